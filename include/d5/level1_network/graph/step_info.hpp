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

/// One step of a plan, as observers see it. Made while compiling; lives as long as the plan.
struct StepInfo {
  const onnx::Node& node;
  /// The node's name (without one: its first output); within a graph that a node holds after that
  /// node's and the attribute's: "If_0/then_branch/Conv_3".
  std::string path = {};
  std::size_t step = 0;  ///< its place in the plan; those of backward follow the forward ones
  Pass pass = Pass::forward;
  /// The node's work forward once more, within backward (`ExecutorOptions::recompute`).
  bool recomputed = false;
  /// It makes another form of a parameter or a constant, before the others and only in runs that
  /// find the network's values changed (`Network::value_changes`); numbered after all others.
  bool prepares = false;
  /// Whose kernel it runs. Where only running tells the shapes, all that may be asked, in order:
  /// "torch,reference".
  std::string_view framework = {};
  Device device = {};
  /// How the first output lies, where its framework arranges it: "nhwc". Empty: in rows.
  std::string layout = {};
  Stream& stream = host_stream();
  /// The node's work forward, also in a backward step; nothing where only running tells the shapes.
  Cost cost = {};
  /// Bytes that the plan lays out for it: what it writes (outputs, or gradients), what it keeps for
  /// backward, scratch. 0 where only running tells the shapes.
  std::size_t memory = 0;
};

/// "Conv 'If_0/then_branch/Conv_3'": how messages and traces name a step; safe to print.
[[nodiscard]] std::string describe(const StepInfo& step);

}  // namespace d5
