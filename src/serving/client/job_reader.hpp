// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "d5/core/results/results.hpp"
#include "d5/serving/jobs/job_queue.hpp"

namespace d5::detail {

// Readers of a server's JSON. Throws: nlohmann::json::exception, NotFound for other content.
[[nodiscard]] Job job_of(const nlohmann::json& json);
[[nodiscard]] JobEvent event_of(const nlohmann::json& json);
[[nodiscard]] AgentFit fit_of(const nlohmann::json& json);
/// A run with its records, like a results file for each piece; one without records if it has none.
[[nodiscard]] std::vector<Results> pieces_of(const nlohmann::json& run,
                                             const nlohmann::json& records);

}  // namespace d5::detail
