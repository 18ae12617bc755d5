// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <set>
#include <string>

#include "d5/level0_ops/operator/operator.hpp"
#include "d5/onnx/model.hpp"

namespace d5 {

/// Which inputs of a node have a gradient, as the reference's operator says; all of a node that it
/// does not have; none of one that cannot be made, which says so when the network is compiled.
class DifferentiatedInputs {
 public:
  explicit DifferentiatedInputs(const onnx::Node& node);
  /// The place behind the inputs stands for what the node's graphs capture.
  [[nodiscard]] bool contains(std::size_t place) const;

 private:
  std::unique_ptr<Operator> op_;
  bool cannot_be_made_ = false;
};

using TensorNames = std::set<std::string, std::less<>>;

/// Those of `candidates` that a node of `graph` can be differentiated by, also one in a graph that
/// a node holds.
[[nodiscard]] TensorNames differentiated_among(const onnx::Graph& graph,
                                               const TensorNames& candidates);

}  // namespace d5
