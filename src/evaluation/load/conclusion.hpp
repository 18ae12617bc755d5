// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/evaluation/load/scenario.hpp"
#include "evaluation/load/query_log.hpp"

namespace d5::detail {

/// A doubt of a valid run; an overloaded system never settles.
constexpr const char* kUnsettled = "latency had not settled by the middle of the run";

/// Marks a run as invalid, with a further reason.
void invalidate(ScenarioResult& result, const std::string& reason);
/// Moves the log into the result. Samples that failed, or have no answer or several, invalidate it.
void take_log(QueryLog::Closed log, const ScenarioOptions& options, ScenarioResult& result);
/// Takes over what the system found out about its run.
void take_report(const SystemReport& report, ScenarioResult& result);
/// Fails answers after their deadline.
void check_deadline(const ScenarioOptions& options, ScenarioResult& result);
/// Last step: checks the objective, looks for reasons to doubt the numbers, adds the measurements.
void conclude(ScenarioResult& result, const ScenarioOptions& options);
/// The measurements of a judged result.
[[nodiscard]] std::vector<Measurement> measurements_of(const ScenarioResult& result);

}  // namespace d5::detail
