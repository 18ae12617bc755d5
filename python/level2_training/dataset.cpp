// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <optional>

#include "bindings.hpp"
#include "d5/core/error.hpp"
#include "d5/level2_training/level2_training.hpp"
#include "long_call.hpp"
#include "use.hpp"

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

std::optional<std::reference_wrapper<const Batch>> next(Sampler& sampler) {
  const Use use(&sampler, "the sampler");
  const Batch* batch = nullptr;
  long_call([&](const Interrupt&) { batch = sampler.next(); });
  return batch ? std::optional(std::cref(*batch)) : std::nullopt;
}

void reset(Sampler& sampler, std::int64_t epoch) {
  const Use use(&sampler, "the sampler");
  const py::gil_scoped_release release;
  sampler.reset(epoch);
}

void bind_sampler(py::module_& m) {
  constexpr auto inside = py::return_value_policy::reference_internal;
  py::class_<Batch>(m, "Batch", "What one step is fed; valid until the sampler's next one.")
      .def_property_readonly("values", [](const Batch& b) { return from_values(b.values); })
      .def_readonly("size", &Batch::size)
      .def_readonly("epoch", &Batch::epoch)
      .def_readonly("index", &Batch::index)
      .def("__repr__", [](const Batch& b) {
        return fmt::format("<d5.Batch {} of epoch {}: {} samples>", b.index, b.epoch, b.size);
      });

  py::class_<Sampler, std::shared_ptr<Sampler>>(m, "Sampler", "Splits a data set into batches.")
      .def("next", &next, inside, "The next batch, or None at the end of an epoch.")
      .def("reset", &reset, py::arg("epoch") = 0)
      .def("__len__", &Sampler::batches)
      .def(
          "__iter__",
          [](Sampler& sampler) -> Sampler& {
            reset(sampler, 0);
            return sampler;
          },
          inside)
      .def(
          "__next__",
          [](Sampler& sampler) -> const Batch& {
            if (const auto batch = next(sampler)) return *batch;
            throw py::stop_iteration();
          },
          inside)
      .def("__repr__", [](const Sampler& sampler) {
        return fmt::format("<d5.Sampler: {} batches an epoch of {}>", sampler.batches(),
                           describe(sampler.dataset()));
      });

  m.def(
      "sampler",
      [](const std::string& name, std::shared_ptr<Dataset> dataset, const Options& options) {
        return samplers().at(name).make(std::move(dataset), to_settings(options));
      },
      py::arg("name"), py::arg("dataset"),
      "Batches of a data set, such as sampler(\"shuffle\", data, batch_size=64, seed=1).");
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
  bind_sampler(m);
}

}  // namespace d5::python
