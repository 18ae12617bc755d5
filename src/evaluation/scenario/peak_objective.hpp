// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "d5/evaluation/scenario/find_peak.hpp"

namespace d5::detail {

/// Queries of a run that the objective's interval needs: some ten are expected beyond its limit.
[[nodiscard]] std::int64_t least_queries(const PeakObjective& objective);
/// Throws: ValueError for an objective that cannot be, or lacks limits of a good answer.
void expect_valid(const PeakObjective& objective, const AnswerLimits& limits);

/// The numbers of a run that an objective limits, with their estimate; without samples if the run
/// has none.
[[nodiscard]] Measurement number_of(const ScenarioResult& result, const PeakObjective& objective);
/// `number`: what `number_of` returned. Throws: Unsupported for an objective of tokens where the
/// system reports none.
[[nodiscard]] PeakStep::Verdict verdict_of(const ScenarioResult& result,
                                           const PeakObjective& objective,
                                           const Measurement& number);

}  // namespace d5::detail
