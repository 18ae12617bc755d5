// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/results/measurement.hpp"

namespace d5::detail {

/// `estimate(measurement)` at `confidence`. The mean of a ratio is of few pairs, as of trainings
/// from the same seeds, and has Student's interval; other means have none. A record with an
/// interval of its own (`set_interval`) has that one; for another confidence its halves are scaled
/// as those of a normal distribution.
[[nodiscard]] Estimate estimate_at(const Measurement& measurement, double confidence);

/// Gives a record of one number its 95% interval, where that does not follow from `samples`: a
/// number computed from samples that depend on each other. NaN: it has none. The ends are the
/// conditions "interval low" and "interval high", so that files and databases keep them.
void set_interval(Measurement& measurement, const Interval& interval);

}  // namespace d5::detail
