// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pybind11/typing.h>

#include "bindings.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level2_training/level2_training.hpp"
#include "level2_training/data/described_fields.hpp"
#include "level2_training/data/python_dataset.hpp"
#include "long_call.hpp"
#include "part_kind.hpp"

namespace d5::python {
namespace {

/// Sample `index`, field by field; negative indices count from the end, as in Python.
Values sample(const Dataset& dataset, std::int64_t index, std::uint64_t seed, std::int64_t epoch) {
  const std::int64_t place = index < 0 ? index + dataset.size() : index;
  if (place < 0 || place >= dataset.size()) {
    throw py::index_error(fmt::format("sample {} of data set {}, which has {}", index,
                                      dataset.name(), dataset.size()));
  }
  std::vector<Tensor> batch;
  long_call([&](const Interrupt&) {
    batch = empty_batch(dataset, 1);
    dataset.read(std::span(&place, 1), {.seed = seed, .epoch = epoch}, batch);
  });
  Values result;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const auto& field = dataset.fields()[i];
    const auto dims = batch[i].shape().dims();
    result[py::cast(field.name)] = batch[i].reshaped(Shape(dims.subspan(1)));
  }
  return result;
}

py::typing::Dict<py::str, TypeAndShape> fields(const Dataset& dataset) {
  return words_of(dataset.fields());
}

std::vector<std::int64_t> labels(const Dataset& dataset, const std::string& field) {
  std::vector<std::int64_t> all;
  long_call([&](const Interrupt&) { all = dataset.labels(field); });
  return all;
}

constexpr const char* kDatasetHelp =
    R"(Samples with random access; base class of data sets in Python.

    class Points(d5.Dataset):
        def __len__(self):
            return 100
        def fields(self):
            return {"x": ("float32", [2]), "label": ("int64", [])}
        def read(self, index, seed, epoch):
            return {"x": points[index], "label": index % 3}

Anything random about a sample depends on (seed, epoch, index) alone.)";

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
  // A smart holder: a data set in Python lives as long as C++ holds it.
  py::classh<Dataset, PythonDataset> dataset(m, "Dataset", kDatasetHelp);
  dataset.def(py::init<>())
      .def("__len__", &Dataset::size)
      .def_property_readonly("name", &Dataset::name,
                             "Name of the data set in records and messages: \"mnist\".")
      .def("fields", &fields, "Types and shapes by name; a dimension of -1 is open.")
      .def("labels", &labels, py::arg("field") = "label",
           "The integers of a field, of all samples.")
      .def("sample_name", &Dataset::sample_name, py::arg("index"),
           "Name of a sample in messages and lists: \"n01440764/ILSVRC2012_val_00000293.JPEG\".")
      .def("sample", &sample, py::arg("index"), py::arg("seed") = 0, py::arg("epoch") = 0,
           "A sample, field by field, as it is drawn with that seed in that epoch.")
      .def(
          "__getitem__",
          [](const Dataset& dataset, std::int64_t index) { return sample(dataset, index, 0, 0); },
          py::arg("index"), "A sample, field by field.")
      .def("__repr__", [](const Dataset& dataset) { return describe(dataset); });

  dataset.attr("_hooks") = "read";
  let_derive(dataset);
  py::class_<DatasetPair>(m, "DatasetPair", "Training and test part of a data set.")
      .def_property_readonly(
          "train", [](const DatasetPair& p) { return std::const_pointer_cast<Dataset>(p.train); },
          "Training part.")
      .def_property_readonly(
          "test", [](const DatasetPair& p) { return std::const_pointer_cast<Dataset>(p.test); },
          "Test part; None if there is none.")
      .def(
          "__iter__",
          [](const DatasetPair& p) {
            return py::typing::Iterator<Dataset>(
                py::iter(py::make_tuple(std::const_pointer_cast<Dataset>(p.train),
                                        std::const_pointer_cast<Dataset>(p.test))));
          },
          "Both parts: train, test = d5.dataset(\"mnist\").")
      .def("__repr__", [](const DatasetPair& p) {
        return fmt::format("<d5.DatasetPair train={}, test={}>", describe(*p.train),
                           p.test ? describe(*p.test) : "none");
      });

  m.def(
      "dataset",
      [](const std::string& name, const Options& options) {
        const Settings settings = entry_settings(options, "d5.dataset", datasets(), name);
        DatasetPair data;
        long_call(
            [&](const Interrupt& interrupt) { data = open_dataset(name, settings, interrupt); });
        return data;
      },
      py::arg("name"), "Opens a data set, such as dataset(\"mnist\", data=\"folder\").");
  m.def("datasets", [] { return datasets().names(); });
}

}  // namespace d5::python
