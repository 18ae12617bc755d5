// SPDX-License-Identifier: Apache-2.0
#include "level1_network/nodes/random_nodes.hpp"

#include "d5/onnx/visitor.hpp"

namespace d5 {

bool draws_random_numbers(const onnx::Graph& graph) {
  bool draws = false;
  onnx::Visitor visitor;
  visitor.otherwise([&](const onnx::Node& node) { draws = draws || draws_random_numbers(node); });
  visitor.visit(graph);
  return draws;
}

}  // namespace d5
