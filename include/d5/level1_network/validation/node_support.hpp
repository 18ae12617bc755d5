// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/level1_network/graph/executor_word.hpp"

namespace d5 {

/// Whether the frameworks that a word names have a node's operator; answered before types and
/// shapes are known.
///
///     NodeSupport("torch+reference").of(node);  // one of them is enough
class NodeSupport {
 public:
  /// "auto" stands for every framework that can be loaded. Throws: NotFound; Unsupported for a
  /// framework that is not available; ValueError for a framework's own executor, "torch:torch",
  /// which takes whole networks.
  explicit NodeSupport(const ExecutorWord& word);
  /// The reason has one part for each framework.
  [[nodiscard]] Support of(const onnx::Node& node) const;

 private:
  std::vector<const OperatorRegistry*> frameworks_;
};

}  // namespace d5
