// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <optional>

#include "bindings.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level2_training/level2_training.hpp"
#include "declared_keywords.hpp"
#include "level2_training/training/python_metric.hpp"

namespace d5::python {
namespace {

Measurement record_of(const TrainingMetric& metric, const std::string& subject,
                      const std::string& framework) {
  Measurement record;
  record.level = "training";
  record.subject = subject;
  record.framework = framework;
  record.metric = metric.name();
  record.unit = metric.unit();
  record.quantity = metric.quantity();
  record.direction = metric.direction();
  record.statistic = metric.statistic();
  record.over_ranks = metric.over_ranks();
  record.status = Status::passed;
  metric.summarise(record);
  return record;
}

/// Throws: ValueError for a label that is no class of the scores.
void expect_classes(const Tensor& labels, const Tensor& scores,
                    std::optional<std::int64_t> ignored) {
  if (scores.shape().rank() == 0) return;
  const std::int64_t classes = scores.shape()[scores.shape().rank() - 1];
  const auto look = [&](const auto* all) {
    for (std::int64_t n = 0; n < labels.elements(); ++n) {
      const std::int64_t label = all[n];
      if ((label >= 0 && label < classes) || label == ignored) continue;
      throw ValueError(
          fmt::format("d5.count_right: labels has {}, expected a class of the scores, 0 to {}, or "
                      "`ignored`",
                      label, classes - 1));
    }
  };
  if (labels.dtype() == DType::int64) look(labels.data<std::int64_t>());
  if (labels.dtype() == DType::int32) look(labels.data<std::int32_t>());
}

}  // namespace

void bind_training_metric(py::module_& m) {
  py::class_<Event, std::shared_ptr<Event>>(m, "NativeEvent", "An observer written in C++.");
  py::class_<TrainingMetric, Event, std::shared_ptr<TrainingMetric>>(
      m, "TrainingMetric", "A metric that observes training: add it to a trainer's events.")
      .def_property_readonly("name", &TrainingMetric::name,
                             "Name of the metric: \"test_accuracy\".")
      .def_property_readonly("unit", &TrainingMetric::unit, "SI unit of its samples: \"s\", \"1\".")
      .def_property_readonly("samples", &TrainingMetric::samples, "Samples in order.")
      .def_property_readonly(
          "value",
          [](const TrainingMetric& metric) {
            if (metric.samples().empty()) {
              throw NotFound("metric " + metric.name() + " has observed nothing yet");
            }
            return metric.samples().back();
          },
          "The last sample.")
      .def("record", &record_of, py::arg("subject") = "training", py::arg("framework") = "",
           "The samples as a measurement of `subject`; skipped if there are none.")
      .def("__repr__", [](const TrainingMetric& metric) {
        return fmt::format("<d5.TrainingMetric {}: {} samples>", metric.name(),
                           metric.samples().size());
      });
  m.def(
      "training_metric",
      [](const Anything& which, const Options& options) {
        if (!py::isinstance<py::str>(which)) {
          OptionList(to_settings(options).owned_by("metric in Python")).expect_all_known();
          return to_metric(which);
        }
        const auto name = which.cast<std::string>();
        auto metric = std::dynamic_pointer_cast<TrainingMetric>(metrics().at(name).make(
            entry_settings(options, "d5.training_metric", metrics(), name)));
        if (!metric) throw TypeError("metric " + name + " is not one of training; use d5.measure");
        return metric;
      },
      py::arg("which"),
      "Makes a metric by name, such as training_metric(\"test_accuracy\"), with its options as "
      "keywords, or from an object of d5.Metric.");
  m.def(
      "gradient_norm", [](Network& network) { return gradient_norm(network); }, py::arg("network"),
      "The Euclidean norm of all gradients together, summed in float64.");
  m.def(
      "count_right",
      [](const Anything& scores, const Anything& labels, std::int64_t k,
         std::optional<std::int64_t> ignored) {
        if (k < 1) throw ValueError(fmt::format("d5.count_right: k is {}, expected at least 1", k));
        const Tensor of_rows = to_tensor(scores), right = to_tensor(labels);
        expect_classes(right, of_rows, ignored);
        return count_right(of_rows, right, k, ignored);
      },
      py::arg("scores"), py::arg("labels"), py::arg("k") = 1, py::arg("ignored") = py::none(),
      "Number of rows of scores (floats, NxC or NxTxC) whose label (integers, N or NxT) has the "
      "largest score, or is among the k largest; rows with the label `ignored` do not count as "
      "right.");
}

}  // namespace d5::python
