// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/core/tables/text_table.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "d5/level1_network/graph/step_info.hpp"

namespace d5 {

/// What the plan runs that `executor` made or ran last, in order, each with its framework and
/// device. Valid until the executor's next run; empty as `planned_memory` is.
[[nodiscard]] std::vector<StepInfo> planned_steps(const GraphExecutor& executor);

/// A row a step: node, operator, pass, framework, device, how its first output lies, bytes that the
/// plan lays out for it.
[[nodiscard]] TextTable to_table(const std::vector<StepInfo>& steps);

}  // namespace d5
