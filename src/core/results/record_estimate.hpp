// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/results/measurement.hpp"

namespace d5::detail {

/// `estimate(measurement)` at `confidence`. The mean of a ratio is of few pairs, as of trainings
/// from the same seeds, and has Student's interval; other means have none.
[[nodiscard]] Estimate estimate_at(const Measurement& measurement, double confidence);

}  // namespace d5::detail
