// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "d5/level1_network/graph/graph_executor.hpp"

/// Networks whose nodes hold graphs, and judges of their gradients.
namespace subgraphs {

using d5::DType;
using d5::Tensor;
using d5::ValueMap;
using d5::onnx::Graph;
using d5::onnx::Node;
using Names = std::vector<std::string>;
using Attributes = std::map<std::string, d5::onnx::Attribute, std::less<>>;
using GraphPointer = std::shared_ptr<const Graph>;

inline Node node(const std::string& op_type, Names inputs, Names outputs,
                 Attributes attributes = {}) {
  Node result;
  result.op_type = op_type;
  result.opset = 21;
  result.inputs = std::move(inputs);
  result.outputs = std::move(outputs);
  result.attributes = std::move(attributes);
  return result;
}

inline GraphPointer graph(const Names& inputs, std::vector<Node> nodes, const Names& outputs) {
  auto result = std::make_shared<Graph>();
  result->name = "body";
  for (const auto& name : inputs) result->inputs.push_back({name, {}});
  result->nodes = std::move(nodes);
  for (const auto& name : outputs) result->outputs.push_back({name, {}});
  return result;
}

/// y = x where the scalar `which` is false, else a product that x, Nx3, does not enter.
inline d5::Network with_impossible_branch() {
  const auto branch_of = [](const std::string& op_type, Names inputs) {
    auto branch = std::make_shared<Graph>();
    branch->nodes = {node(op_type, std::move(inputs), {"branch_y"})};
    d5::onnx::Type type;
    type.kind = d5::ValueKind::tensor;
    type.dtype = DType::float32;
    branch->outputs = {{"branch_y", type}};
    return GraphPointer(branch);
  };
  d5::Network network("branches");
  network.add_input("x", DType::float32, {"N", "K"});
  network.add_input("which", DType::boolean, {});
  network.add_constant("w", Tensor::zeros(DType::float32, {5, 2}));
  network.add_node("If", {"which"}, {"y"},
                   {{"then_branch", branch_of("MatMul", {"x", "w"})},
                    {"else_branch", branch_of("Identity", {"x"})}});
  network.add_output("y");
  return network;
}

inline Tensor doubles(const d5::Shape& shape, double first, double step) {
  Tensor result = Tensor::empty(DType::float64, shape);
  for (std::int64_t i = 0; i < result.elements(); ++i) {
    result.data<double>()[i] = first + step * double(i);
  }
  return result;
}

inline std::vector<double> numbers(const Tensor& tensor) {
  const auto span = tensor.span<double>();
  return {span.begin(), span.end()};
}

/// Inputs and nodes; `loss` is the sum of the squares of `results`.
inline d5::Network network(const ValueMap& inputs, const std::vector<Node>& nodes,
                           const Names& results) {
  d5::Network result("subgraphs");
  for (const auto& [name, value] : inputs) {
    const Tensor& tensor = value.tensor();
    result.add_input(name, tensor.dtype(), {tensor.shape().begin(), tensor.shape().end()});
  }
  for (const Node& made : nodes) {
    result.add_node(made.op_type, made.inputs, made.outputs, made.attributes);
  }
  std::string loss;
  for (const auto& name : results) {
    result.add_node("ReduceSumSquare", {name}, {name + "_square"}, {{"keepdims", std::int64_t{0}}});
    if (!loss.empty()) {
      result.add_node("Add", {loss, name + "_square"}, {loss + "_" + name});
    }
    loss = loss.empty() ? name + "_square" : loss + "_" + name;
  }
  result.add_node("Identity", {loss}, {"loss"});
  result.add_output("loss");
  return result;
}

inline Names real_inputs(const ValueMap& inputs) {
  Names result;
  for (const auto& [name, value] : inputs) {
    if (value.tensor().dtype() == DType::float64) result.push_back(name);
  }
  return result;
}

inline std::map<std::string, std::vector<double>> gradients(const d5::Network& network,
                                                            const ValueMap& inputs) {
  const Names names = real_inputs(inputs);
  auto executor = d5::make_executor(network, {.seed = 3, .gradients = names});
  std::map<std::string, std::vector<double>> result;
  for (int run = 0; run < 2; ++run) {  // the second uses the plans and the memory of the first
    (void)executor->inference_and_backprop(inputs, "loss");
    for (const auto& name : names) {
      const auto gradient = numbers(executor->gradient(name));
      if (run > 0) CHECK(gradient == result[name]);
      result[name] = gradient;
    }
  }
  return result;
}

inline double loss(d5::GraphExecutor& executor, const ValueMap& inputs) {
  return executor.inference(inputs).at("loss").tensor().item<double>();
}

/// Central differences of step h err by h^2 and by 2^-53 / h: with h = 1e-5 both are below 1e-9 for
/// the numbers of about 1 here.
inline void check_by_differences(const d5::Network& network, const ValueMap& inputs) {
  constexpr double kStep = 1e-5, kTolerance = 1e-8;
  const auto found = gradients(network, inputs);
  auto executor = d5::make_executor(network);
  for (const auto& [name, gradient] : found) {
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      ValueMap moved = inputs;
      Tensor x = inputs.at(name).tensor().copy();
      moved[name] = x;
      double& element = x.data<double>()[i];
      const double at = element;
      element = at + kStep;
      const double above = loss(*executor, moved);
      element = at - kStep;
      const double below = loss(*executor, moved);
      const double expected = (above - below) / (2 * kStep);
      INFO(name << " " << i);
      CHECK(gradient[i] ==
            Approx(expected).epsilon(0).margin(kTolerance * (1 + std::abs(expected))));
    }
  }
}

/// The same sums, perhaps in another order.
inline void check_same(const d5::Network& network, const d5::Network& unrolled,
                       const ValueMap& inputs) {
  const auto found = gradients(network, inputs), expected = gradients(unrolled, inputs);
  for (const auto& [name, gradient] : expected) {
    INFO(name);
    REQUIRE(found.at(name).size() == gradient.size());
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      CHECK(found.at(name)[i] == Approx(gradient[i]).epsilon(1e-14).margin(1e-15));
    }
  }
}

inline d5::Value flag(bool value) { return Tensor::scalar(value); }
inline d5::Value count(std::int64_t value) { return Tensor::scalar(value); }

}  // namespace subgraphs
