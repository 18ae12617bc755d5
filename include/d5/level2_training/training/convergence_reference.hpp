// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/results/measurement.hpp"
#include "d5/level2_training/training/recipe.hpp"

namespace d5 {

/// The metric of a recipe's reference: how many samples it takes is no matter of the machine.
inline constexpr const char* kReferenceMetric = "samples_to_accuracy";
/// Runs that a reference is made of.
inline constexpr std::int64_t kFewestReferenceRuns = 10;

/// Holds the records of repeated runs (`join_runs`) against the runs that the recipe tells, by
/// Welch's one-sided test at 5%: a mean that is significantly smaller makes a record mistrusted,
/// for who converges faster than the reference trains something else; a larger one fails it. The
/// conditions "reference_mean" and "reference_p" say how it stands. Nothing for fewer than two
/// runs.
///
/// Source: MLCommons, "MLPerf Training Rules", reference convergence points.
void judge_convergence(std::vector<Measurement>& joined, const Recipe& recipe);

/// Throws: ValueError for a recipe that does not measure what its reference would be made of.
void expect_reference_metric(const Recipe& recipe);

/// The recipe's text with the runs of `joined` for its reference. Throws: ValueError where there
/// are fewer than `kFewestReferenceRuns`, one did not converge, or the metric was not measured.
[[nodiscard]] std::string with_reference(const Recipe& recipe,
                                         const std::vector<Measurement>& joined);

}  // namespace d5
