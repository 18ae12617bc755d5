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

/// Memory plan of an executor: offset and lifetime of each block. Parameters and inputs are not
/// part of it.
///
/// Units: bytes; time is counted in steps, backward steps after the forward ones.
struct PlannedMemory {
  enum class Kind { value, gradient, kept, scratch };  ///< kept: saved by a kernel for backward
  struct Block {
    std::string name = {};  ///< names of all values that share it, in order of time
    Kind kind = Kind::value;
    Device device = {};
    std::size_t bytes = 0, offset = 0;
    std::size_t begin = 0, end = 0;  ///< first and last step, both included
  };
  std::vector<std::string> steps = {};  ///< names of the nodes
  std::vector<Block> blocks = {};

  /// Size of the arena, in whole 64-byte lines; a memory limit counts it.
  [[nodiscard]] std::size_t bytes(Device device = {}) const;
};

/// The plan that `executor` made or ran last. Empty before the first, and for an executor that is
/// not `make_executor`'s.
[[nodiscard]] PlannedMemory planned_memory(const GraphExecutor& executor);

/// The memory plan of `executor.plan(inputs, loss)`, without allocating it; it may exceed the
/// memory of this machine. Throws: as `GraphExecutor::plan`; Unsupported for an executor that is
/// not `make_executor`'s.
[[nodiscard]] PlannedMemory plan_memory(GraphExecutor& executor, const ValueMap& inputs,
                                        std::string_view loss = {});

/// Predicted memory of a process that runs a network by a plan. Code, data that kernels prepare,
/// and allocations of steps at run time come on top.
///
/// Units: bytes, on the host.
struct MemoryPrediction {
  std::size_t parameters = 0, constants = 0, inputs = 0;
  std::size_t gradients = 0;  ///< gradients of the parameters, if there is a loss
  std::size_t plan = 0;       ///< intermediate values, and outputs

  [[nodiscard]] std::size_t bytes() const {
    return parameters + constants + inputs + gradients + plan;
  }
};
[[nodiscard]] MemoryPrediction predicted_memory(const Network& network, const ValueMap& inputs,
                                                const PlannedMemory& plan,
                                                std::string_view loss = {});

/// Bytes over steps, one plot per device.
[[nodiscard]] std::vector<Plot> memory_plots(const PlannedMemory& memory);

}  // namespace d5
