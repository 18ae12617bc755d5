// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/picture/network_drawing.hpp"

#include <catch2/catch.hpp>
#include <memory>

#include "tests/core/svg_texts.hpp"

namespace {

using Catch::Contains;
using d5::DType;
using d5::Tensor;

/// y = If(b) { relu(x) } { x w }
d5::Network branching() {
  d5::Network network("branching \"one\"");
  network.add_input("b", DType::boolean, {});
  network.add_input("x", DType::float32, {"N", 2});
  network.add_parameter("w", Tensor::zeros(DType::float32, {2, 2}));
  auto then_branch = std::make_shared<d5::onnx::Graph>();
  auto else_branch = std::make_shared<d5::onnx::Graph>();
  then_branch->name = "positive";
  else_branch->name = "product <2>";
  d5::onnx::Node relu, product;
  relu.op_type = "Relu", relu.opset = 22, relu.inputs = {"x"}, relu.outputs = {"t"};
  product.op_type = "MatMul", product.opset = 22, product.inputs = {"x", "w"};
  product.outputs = {"e"};
  then_branch->nodes = {relu};
  then_branch->outputs = {{"t", {}}};
  else_branch->nodes = {product};
  else_branch->outputs = {{"e", {}}};
  using GraphPointer = std::shared_ptr<const d5::onnx::Graph>;
  network.add_node(
      "If", {"b"}, {"y"},
      {{"then_branch", GraphPointer(then_branch)}, {"else_branch", GraphPointer(else_branch)}},
      "choice");
  network.add_output("y");
  return network;
}

}  // namespace

TEST_CASE("the Graphviz file has every node and edge, and graphs within nodes") {
  const std::string dot = to_dot(branching());
  CHECK_THAT(dot, Catch::StartsWith("digraph \"branching \\\"one\\\"\" {"));
  CHECK_THAT(dot, Contains("b0 [label=\"b\\nbool scalar\", shape=ellipse];"));
  CHECK_THAT(dot, Contains("If\\nchoice\\nparameters 2x2"));
  CHECK_THAT(dot, Contains("then_branch: positive, 1 node"));
  CHECK_THAT(dot, Contains("b0 -> b2 [tooltip=\"b\"];"));
  CHECK_THAT(dot, Contains("b1 -> b2 [tooltip=\"x\", style=dashed];"));  // a graph in it reads it
  CHECK_THAT(dot, Contains("b2 -> b3 [tooltip=\"y\"];"));
}

TEST_CASE("a drawing has a box for each node, input and output, and escapes names") {
  const std::string svg = to_svg(branching());
  CHECK(d5::testing::faults_of_texts(svg).empty());
  std::size_t boxes = 0;
  for (auto at = svg.find("<rect x="); at != std::string::npos; at = svg.find("<rect x=", at + 1)) {
    ++boxes;
  }
  CHECK(boxes == 4);
  CHECK_THAT(svg, Contains("else_branch: product &lt;2&gt;, 1 node"));
  CHECK_THAT(svg, Contains("@media (prefers-color-scheme:dark){.plot"));
  CHECK_THAT(svg, Contains("float32 Nx2") && Catch::EndsWith("</svg>\n"));
}
