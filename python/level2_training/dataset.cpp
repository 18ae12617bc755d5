// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bindings.hpp"
#include "d5/core/error.hpp"
#include "d5/level2_training/level2_training.hpp"
#include "long_call.hpp"

namespace d5::python {
namespace {

/// Sample `index`, field by field; negative ones count from the end, as in Python.
Values sample(const Dataset& dataset, std::int64_t index) {
  const std::int64_t place = index < 0 ? index + dataset.size() : index;
  if (place < 0 || place >= dataset.size()) {
    throw py::index_error(fmt::format("sample {} of data set {}, which has {}", index,
                                      dataset.name(), dataset.size()));
  }
  std::vector<Tensor> batch;
  long_call([&](const Interrupt&) {
    batch = empty_batch(dataset, 1);
    dataset.read(std::span(&place, 1), {}, batch);
  });
  Values result;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const auto& field = dataset.fields()[i];
    const auto dims = batch[i].shape().dims();
    result[py::cast(field.name)] = batch[i].reshaped(Shape(dims.subspan(1)));
  }
  return result;
}

std::string describe(const Dataset& dataset) {
  std::vector<std::string> fields;
  for (const auto& field : dataset.fields()) {
    fields.push_back(printable(field.name) + " " + to_string(field.desc));
  }
  return fmt::format("<d5.Dataset {}: {} samples of {}>", printable(dataset.name()), dataset.size(),
                     fmt::join(fields, ", "));
}

}  // namespace

void bind_dataset(py::module_& m) {
  py::class_<Dataset, std::shared_ptr<Dataset>>(m, "Dataset", "Samples that are reached by index.")
      .def("__len__", &Dataset::size)
      .def_property_readonly("name", &Dataset::name)
      .def("__getitem__", &sample, py::arg("index"), "One sample, field by field.")
      .def("__repr__", [](const Dataset& dataset) { return describe(dataset); });

  py::class_<DatasetPair>(m, "DatasetPair", "Training and test part of one data set.")
      .def_property_readonly(
          "train", [](const DatasetPair& p) { return std::const_pointer_cast<Dataset>(p.train); })
      .def_property_readonly(
          "test", [](const DatasetPair& p) { return std::const_pointer_cast<Dataset>(p.test); })
      .def("__repr__", [](const DatasetPair& p) {
        return fmt::format("<d5.DatasetPair train={}, test={}>", describe(*p.train),
                           describe(*p.test));
      });

  m.def(
      "dataset",
      [](const std::string& name, const Options& options) {
        const Settings settings = to_settings(options);
        DatasetPair data;
        long_call(
            [&](const Interrupt& interrupt) { data = open_dataset(name, settings, interrupt); });
        return data;
      },
      py::arg("name"), "Opens a data set, such as dataset(\"mnist\", data=\"folder\").");
}

}  // namespace d5::python
