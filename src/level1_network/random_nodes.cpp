// SPDX-License-Identifier: Apache-2.0
#include "level1_network/random_nodes.hpp"

#include <set>

#include "d5/onnx/visitor.hpp"

namespace d5 {

bool draws_random_numbers(const onnx::Node& node) {
  static const std::set<std::string> kRandom = {"Bernoulli",        "Multinomial",
                                                "RandomNormal",     "RandomUniform",
                                                "RandomNormalLike", "RandomUniformLike"};
  // Dropout with a third input is in training mode.
  return kRandom.contains(node.op_type) || (node.op_type == "Dropout" && node.has_input(2));
}

bool draws_random_numbers(const onnx::Graph& graph) {
  bool draws = false;
  onnx::Visitor visitor;
  visitor.otherwise([&](const onnx::Node& node) { draws = draws || draws_random_numbers(node); });
  visitor.visit(graph);
  return draws;
}

}  // namespace d5
