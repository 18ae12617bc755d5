// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/csrc/jit/api/module.h>

#include <string>
#include <utility>
#include <vector>

#include "d5/level1_network/graph_executor.hpp"

namespace d5::torch {

/// A network as one TorchScript graph for inputs of given shapes, frozen and optimized for
/// inference: parameters are constants of it. It is recorded while torch's own executor runs the
/// network, so that it calls what that one calls.
class ScriptedNetwork {
 public:
  /// Throws: Unsupported for a network that no recorded run can stand for: values of what was fed
  /// decide a shape or which function is called, numbers are drawn, constants are updated; and what
  /// torch's own executor throws.
  ScriptedNetwork(Network& network, NetworkMode mode, const ExecutorOptions& options,
                  const OperatorRegistry& operators, const ValueMap& inputs);

  /// Whether `inputs` have the shapes and types that it was made for.
  [[nodiscard]] bool fits(const ValueMap& inputs) const;
  [[nodiscard]] ValueMap run(const ValueMap& inputs);

 private:
  std::vector<std::pair<std::string, TensorDesc>> inputs_;  // in the order of the graph's
  std::vector<std::string> outputs_;
  ::torch::jit::Module module_;
};

}  // namespace d5::torch
