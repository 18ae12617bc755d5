// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "bindings.hpp"
#include "d5/level2_training/level2_training.hpp"

namespace d5::python {

void bind_training_metric(py::module_& m) {
  py::class_<Event, std::shared_ptr<Event>>(m, "NativeEvent", "An observer written in C++.");
  py::class_<TrainingMetric, Event, std::shared_ptr<TrainingMetric>>(
      m, "TrainingMetric", "A metric that observes training: add it to a trainer's events.")
      .def_property_readonly("name", &TrainingMetric::name)
      .def_property_readonly("unit", &TrainingMetric::unit)
      .def_property_readonly("samples", &TrainingMetric::samples, "In the order taken.")
      .def_property_readonly(
          "value",
          [](const TrainingMetric& metric) {
            if (metric.samples().empty()) {
              throw NotFound("metric " + metric.name() + " has observed nothing yet");
            }
            return metric.samples().back();
          },
          "The last sample.")
      .def("__repr__", [](const TrainingMetric& metric) {
        return fmt::format("<d5.TrainingMetric {}: {} samples>", metric.name(),
                           metric.samples().size());
      });
  m.def(
      "training_metric",
      [](const std::string& name, const Options& options) {
        auto metric = std::dynamic_pointer_cast<TrainingMetric>(
            metrics().at(name).make(to_settings(options)));
        if (!metric) throw TypeError("metric " + name + " is not one of training; use d5.measure");
        return metric;
      },
      py::arg("name"), "A metric by name, such as training_metric(\"test_accuracy\").");
}

}  // namespace d5::python
