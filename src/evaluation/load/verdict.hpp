// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/evaluation/load/scenario.hpp"
#include "evaluation/load/query_log.hpp"

namespace d5::detail {

/// Makes a run invalid, with one more reason.
void invalidate(ScenarioResult& result, const std::string& reason);
/// Moves the log into the result; samples that failed, have no answer, or several, make it invalid.
void take_log(QueryLog::Closed log, const ScenarioOptions& options, ScenarioResult& result);
/// Answers after their deadline are failed.
void check_deadline(const ScenarioOptions& options, ScenarioResult& result);
/// The objective and what makes numbers doubtful, once all else is judged; then the measurements.
void conclude(ScenarioResult& result, const ScenarioOptions& options);
/// What `conclude` makes of a result that is judged.
[[nodiscard]] std::vector<Measurement> measurements_of(const ScenarioResult& result);

}  // namespace d5::detail
