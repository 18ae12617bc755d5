// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/report/plot.hpp"
#include "d5/core/tensor/device.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"

namespace d5 {

/// Where an executor's plan keeps what, and how long. Parameters and inputs are not the plan's.
///
/// Units: bytes; time is counted in steps, the backward ones after the forward ones.
struct PlannedMemory {
  enum class Kind { value, gradient, kept, scratch };  ///< kept: what a kernel saves for backward
  struct Block {
    std::string name = {};  ///< of all values that share it, one after another
    Kind kind = Kind::value;
    Device device = {};
    std::size_t bytes = 0, offset = 0;
    std::size_t begin = 0, end = 0;  ///< steps, both included
  };
  std::vector<std::string> steps = {};  ///< names of the nodes
  std::vector<Block> blocks = {};

  /// From the first byte to the last that is ever used, on whole 64-byte lines: what a memory limit
  /// counts.
  [[nodiscard]] std::size_t bytes(Device device = {}) const;
};

/// Of the plan that `executor` made or ran last: empty before, and for an executor that is not
/// `make_executor`'s.
[[nodiscard]] PlannedMemory planned_memory(const GraphExecutor& executor);

/// What `executor.plan(inputs, loss)` would lay out, without taking that memory: for plans that
/// this machine cannot hold, too. Throws: as `GraphExecutor::plan`; Unsupported for an executor
/// that is not `make_executor`'s.
[[nodiscard]] PlannedMemory plan_memory(GraphExecutor& executor, const ValueMap& inputs,
                                        std::string_view loss = {});

/// What a process holds for a network that runs by a plan, before it does; beside it are code,
/// what kernels prepared, and what steps allocate while they run.
///
/// Units: bytes, on the host.
struct MemoryPrediction {
  std::size_t parameters = 0, constants = 0, inputs = 0;
  std::size_t gradients = 0;  ///< of the parameters, where there is a loss
  std::size_t plan = 0;       ///< all between, and outputs

  [[nodiscard]] std::size_t bytes() const {
    return parameters + constants + inputs + gradients + plan;
  }
};
[[nodiscard]] MemoryPrediction predicted_memory(const Network& network, const ValueMap& inputs,
                                                const PlannedMemory& plan,
                                                std::string_view loss = {});

/// Bytes over steps: one plot for each device.
[[nodiscard]] std::vector<Plot> memory_plots(const PlannedMemory& memory);

}  // namespace d5
