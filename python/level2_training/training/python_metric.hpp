// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "bindings.hpp"
#include "d5/core/measuring/metric.hpp"
#include "d5/level2_training/training/training_metric.hpp"

namespace d5::python {

/// Of an object of d5.Metric. Throws: TypeError, ValueError for what its class says of itself.
[[nodiscard]] std::shared_ptr<TrainingMetric> to_metric(const py::object& object);

/// Of a text, "NAME:KEY=VALUE", or of what makes an object of d5.Metric when it is called: a class.
/// Throws: TypeError for anything else.
[[nodiscard]] MetricChoice to_metric_choice(const py::handle& object);

}  // namespace d5::python
