// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/core/tables/text_table.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "d5/level1_network/graph/step_info.hpp"

namespace d5 {

/// Steps of the plan that `executor` made or ran last, in order, each with its framework and
/// device. Valid until the executor's next run; empty in the cases of `planned_memory`.
[[nodiscard]] std::vector<StepInfo> planned_steps(const GraphExecutor& executor);

/// One row per step: node, operator, pass, framework, device, layout of the first output, bytes in
/// the plan.
[[nodiscard]] TextTable to_table(const std::vector<StepInfo>& steps);

}  // namespace d5
