// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/results/measurement.hpp"
#include "d5/level2_training/training/recipe.hpp"

namespace d5 {

/// Metric of a recipe's reference: the number of samples does not depend on the machine.
inline constexpr const char* kReferenceMetric = "samples_to_accuracy";
/// Minimum number of runs for a reference.
inline constexpr std::int64_t kFewestReferenceRuns = 10;

/// Compares the records of repeated runs (`join_runs`) with the recipe's reference runs, by Welch's
/// one-sided test at 5%. A significantly larger mean fails a record. A significantly smaller one
/// makes it mistrusted, because faster convergence than the reference's means that something else
/// is trained. The conditions "reference_mean" and "reference_p" hold the result. No effect with
/// fewer than two runs.
///
/// Source: MLCommons, "MLPerf Training Rules", reference convergence points.
void judge_convergence(std::vector<Measurement>& joined, const Recipe& recipe);

/// Throws: ValueError for a recipe that does not measure the metric of a reference.
void expect_reference_metric(const Recipe& recipe);

/// The recipe's text with the runs of `joined` as its reference. Throws: ValueError if there are
/// fewer than `kFewestReferenceRuns`, one did not converge, or the metric was not measured.
[[nodiscard]] std::string with_reference(const Recipe& recipe,
                                         const std::vector<Measurement>& joined);

}  // namespace d5
