// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <set>
#include <string>

#include "d5/level0_ops/operator/operator.hpp"
#include "d5/onnx/model.hpp"

namespace d5 {

/// Differentiable inputs of a node, by the reference's operator: all inputs of a node that the
/// reference lacks; none of a node that cannot be made, which compiling the network reports.
class DifferentiatedInputs {
 public:
  explicit DifferentiatedInputs(const onnx::Node& node);
  /// The index after the last input stands for the captures of the node's graphs.
  [[nodiscard]] bool contains(std::size_t place) const;

 private:
  std::unique_ptr<Operator> op_;
  bool cannot_be_made_ = false;
};

using TensorNames = std::set<std::string, std::less<>>;

/// Subset of `candidates` that some node of `graph`, or of a graph within a node, can differentiate
/// by.
[[nodiscard]] TensorNames differentiated_among(const onnx::Graph& graph,
                                               const TensorNames& candidates);

}  // namespace d5
