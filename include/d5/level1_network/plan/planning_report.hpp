// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/tables/text_table.hpp"
#include "d5/level1_network/plan/planned_memory.hpp"
#include "d5/level1_network/source/model_source.hpp"
#include "d5/level1_network/source/network_inputs.hpp"

namespace d5 {

/// How close each way to place a plan's blocks comes to the least that any could take.
///
/// Units: bytes.
struct PlanningReport {
  struct Placement {
    std::string method;  ///< "by size", "by breadth", "by begin"; last "planned", what is used
    std::size_t bytes = 0;
    double seconds = 0;  ///< that placing took, once
  };
  std::size_t blocks = 0;
  std::size_t bound = 0;  ///< the largest sum of blocks alive at one step
  std::vector<Placement> placements = {};
};
/// Places the blocks of `memory` on `device` again in every way.
[[nodiscard]] PlanningReport planning_report(const PlannedMemory& memory, Device device = {});

/// Inference of a model, and training where it has a loss: `PlanningReport` as a row each. Nothing
/// is run, and no plan's memory taken. Throws: as `open_model`, `open_executor`, `plan_memory`.
[[nodiscard]] TextTable planning_table(const std::string& model, const std::string& word,
                                       const OpenSizes& sizes = {},
                                       const ExecutorOptions& execution = {},
                                       const TransformChain& transforms = {},
                                       const GivenInputs& inputs = {});

}  // namespace d5
