// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "bindings.hpp"
#include "d5/core/measuring/metric.hpp"
#include "d5/level2_training/training/training_metric.hpp"

namespace d5::python {

/// Makes a metric from an object of d5.Metric. Throws: TypeError, ValueError for a bad class
/// attribute.
[[nodiscard]] std::shared_ptr<TrainingMetric> to_metric(const py::object& object);

/// Makes metrics from a text, "NAME:KEY=VALUE", or a callable that makes an object of d5.Metric,
/// such as its class. Throws: TypeError for anything else.
[[nodiscard]] MetricChoice to_metric_choice(const py::handle& object);

}  // namespace d5::python
