// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/level1_network/graph/network.hpp"
#include "level1_network/nodes/value_descs.hpp"

namespace d5 {

/// Times of nodes on micro-batches. Each is measured when first needed, alone, on zeros and the
/// network's own weights. Nodes that compute the same on the same shapes are measured once.
///
/// Units: seconds; forward, plus backward if the network is trained.
class NodeTimes {
 public:
  NodeTimes(const Network& network, std::vector<const OperatorRegistry*> frameworks, bool trained)
      : network_(network), frameworks_(std::move(frameworks)), trained_(trained) {}

  /// Time of a node with values `descs`. Throws: Unsupported if no framework can run it.
  [[nodiscard]] double of(const onnx::Node& node, const ValueDescs& descs);
  /// Time to join two halves of a tensor; the cost of any cut or joint.
  [[nodiscard]] double copy(const TensorDesc& desc);

 private:
  struct Measured {
    const onnx::Node* node;
    std::vector<TensorDesc> inputs;
    double seconds;
  };
  [[nodiscard]] double measure(const onnx::Node& node, const std::vector<Value>& inputs) const;

  const Network& network_;
  std::vector<const OperatorRegistry*> frameworks_;
  bool trained_;
  std::multimap<std::string, Measured> measured_;  ///< keyed by operator
  std::map<std::size_t, double> copies_;           ///< keyed by bytes
};

}  // namespace d5
