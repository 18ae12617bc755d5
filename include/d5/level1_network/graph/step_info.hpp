// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "d5/core/tensor/stream.hpp"
#include "d5/level0_ops/operator/operator.hpp"
#include "d5/onnx/model.hpp"

namespace d5 {

enum class Pass { forward, backward };

/// One step of a plan, as observers see it. Made by compiling; lives as long as the plan.
struct StepInfo {
  const onnx::Node& node;
  /// Name of the node, or of its first output if it has none. In a graph that a node holds, the
  /// holder's name and the attribute come first: "If_0/then_branch/Conv_3".
  std::string path = {};
  std::size_t step = 0;  ///< index in the plan; backward steps follow the forward ones
  Pass pass = Pass::forward;
  /// Whether backward recomputes the node's forward work (`ExecutorOptions::recompute`).
  bool recomputed = false;
  /// Whether the step converts a parameter or a constant to another form. Such steps run before the
  /// others, only if the network's values changed (`Network::value_changes`); their numbers come
  /// last.
  bool prepares = false;
  /// Framework of the kernel. With dynamic shapes: all candidates, in order, "torch,reference".
  std::string_view framework = {};
  Device device = {};
  /// Memory layout of the first output, if its framework chose one: "nhwc". Empty: row-major.
  std::string layout = {};
  Stream& stream = host_stream();
  /// Forward cost of the node, also in a backward step; empty with dynamic shapes.
  Cost cost = {};
  /// Bytes of the step in the plan: what it writes (outputs, or gradients), what it keeps for
  /// backward, and scratch memory. 0 with dynamic shapes.
  std::size_t memory = 0;
};

/// Names a step in messages and traces: "Conv 'If_0/then_branch/Conv_3'"; safe to print.
[[nodiscard]] std::string describe(const StepInfo& step);

}  // namespace d5
