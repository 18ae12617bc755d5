// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/tables/text_table.hpp"
#include "d5/level1_network/plan/planned_memory.hpp"
#include "d5/level1_network/source/model_source.hpp"
#include "d5/level1_network/source/network_inputs.hpp"

namespace d5 {

/// Compares ways of placing a plan's blocks with the lower bound on the arena's size.
///
/// Units: bytes.
struct PlanningReport {
  struct Placement {
    std::string method;  ///< "by size", "by breadth", "by begin"; last "planned", the one in use
    std::size_t bytes = 0;
    double seconds = 0;  ///< time of one placement
  };
  std::size_t blocks = 0;
  std::size_t bound = 0;  ///< the largest sum of blocks alive at one step
  std::vector<Placement> placements = {};
};
/// Places the blocks of `memory` on `device` again by every method.
[[nodiscard]] PlanningReport planning_report(const PlannedMemory& memory, Device device = {});

/// `PlanningReport` of a model's inference, and of its training if it has a loss, one row each.
/// Nothing is run or allocated. Throws: as `open_model`, `open_executor`, `plan_memory`.
[[nodiscard]] TextTable planning_table(const std::string& model, const std::string& word,
                                       const OpenSizes& sizes = {},
                                       const ExecutorOptions& execution = {},
                                       const TransformChain& transforms = {},
                                       const GivenInputs& inputs = {});

}  // namespace d5
