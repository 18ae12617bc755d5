// SPDX-License-Identifier: Apache-2.0
// Gradient of ai.onnx.preview.training, against slopes that a person can check.
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"

namespace {

using d5::DType;
using d5::Tensor;
using Names = std::vector<std::string>;
using Values = std::vector<float>;

/// The Gradient of `y` by `xs` at `inputs`, whose outputs are d0, d1, ...
void add_gradient(d5::Network& network, const Names& inputs, const Names& xs, const Names& zs,
                  const std::string& y) {
  Names outputs;
  for (std::size_t i = 0; i < xs.size(); ++i) outputs.push_back("d" + std::to_string(i));
  d5::onnx::Model model = network.model();
  d5::onnx::Node node;
  node.name = "slopes";
  node.op_type = "Gradient";
  node.domain = "ai.onnx.preview.training";
  node.opset = 1;
  node.inputs = inputs;
  node.outputs = outputs;
  node.attributes = {{"xs", xs}, {"y", y}};
  if (!zs.empty()) node.attributes["zs"] = zs;
  model.graph.nodes.push_back(node);
  for (const auto& name : outputs) model.graph.outputs.push_back({name, {}});
  model.opset_imports["ai.onnx.preview.training"] = 1;
  network = d5::Network(std::move(model));
}

/// h = x w, y = h h + w, of vectors; v is a further input.
d5::Network squares() {
  d5::Network network("squares");
  for (const char* name : {"x", "w", "v"}) network.add_input(name, DType::float32, {2});
  network.add_node("Mul", {"x", "w"}, {"h"});
  network.add_node("Mul", {"h", "h"}, {"q"});
  network.add_node("Add", {"q", "w"}, {"y"});
  network.add_output("y");
  return network;
}

const d5::ValueMap& run_gradient(d5::GraphExecutor& executor) {
  return executor.inference({{"x", Tensor::of<float>({2}, {2, 3})},
                             {"w", Tensor::of<float>({2}, {5, -1})},
                             {"v", Tensor::of<float>({2}, {1, 2})}});
}

Values slopes(const d5::Network& network, const std::string& name) {
  auto executor = d5::make_executor(network);
  run_gradient(*executor);
  const auto span = run_gradient(*executor).at(name).tensor().span<float>();
  return {span.begin(), span.end()};
}

}  // namespace

TEST_CASE("Gradient gives the slopes of one tensor by others") {
  d5::Network network = squares();
  add_gradient(network, {"x", "w"}, {"x", "w"}, {}, "y");
  CHECK(slopes(network, "d0") == Values{100, 6});   // 2 x w^2
  CHECK(slopes(network, "d1") == Values{41, -17});  // 2 x^2 w + 1
  CHECK(slopes(network, "y") == Values{105, 8});
}

TEST_CASE("Gradient begins at tensors in between, and leaves zs as they are") {
  d5::Network network = squares();
  SECTION("by h and w, as if neither decided the other") {
    add_gradient(network, {"h", "w"}, {"h", "w"}, {}, "y");
    CHECK(slopes(network, "d0") == Values{20, -6});  // 2 h
    CHECK(slopes(network, "d1") == Values{1, 1});
  }
  SECTION("by x alone") {
    add_gradient(network, {"x", "w"}, {"x"}, {"w"}, "y");
    CHECK(slopes(network, "d0") == Values{100, 6});
  }
  SECTION("by what y does not depend on") {
    add_gradient(network, {"v"}, {"v"}, {}, "y");
    CHECK(slopes(network, "d0") == Values{0, 0});
  }
  SECTION("of a tensor by itself") {
    add_gradient(network, {"y"}, {"y"}, {}, "y");
    CHECK(slopes(network, "d0") == Values{1, 1});
  }
}

TEST_CASE("Gradient is computed at the values of its inputs, whatever they stand for") {
  d5::Network network = squares();
  add_gradient(network, {"v", "w"}, {"x"}, {"w"}, "y");
  CHECK(slopes(network, "d0") == Values{50, 4});  // 2 v w^2
}

TEST_CASE("Gradient goes through graphs that nodes hold") {
  d5::Network network = squares();
  auto body = std::make_shared<d5::onnx::Graph>();
  body->name = "body";
  for (const char* name : {"t", "go", "s"}) body->inputs.push_back({name, {}});
  d5::onnx::Node product;
  product.op_type = "Mul";
  product.opset = 21;
  product.inputs = {"s", "w"};
  product.outputs = {"r"};
  body->nodes = {product};
  for (const char* name : {"go", "r"}) body->outputs.push_back({name, {}});
  network.add_constant("trips", Tensor::scalar(std::int64_t{2}));
  network.add_constant("always", Tensor::scalar(true));
  network.add_node("Loop", {"trips", "always", "x"}, {"z"},
                   {{"body", std::shared_ptr<const d5::onnx::Graph>(body)}});
  add_gradient(network, {"x", "w"}, {"x", "w"}, {}, "z");
  CHECK(slopes(network, "d0") == Values{25, 1});  // z = x w^2
  CHECK(slopes(network, "d1") == Values{20, -6});
}

TEST_CASE("a Gradient that cannot be is refused with its name") {
  d5::Network network = squares();
  SECTION("of something that no node before it makes") {
    add_gradient(network, {"x"}, {"x"}, {}, "later");
    CHECK_THROWS_AS(slopes(network, "d0"), d5::NotFound);
    CHECK_THROWS_WITH(slopes(network, "d0"),
                      Catch::Contains("Gradient 'slopes'") && Catch::Contains("'later'"));
  }
  SECTION("with fewer inputs than variables") {
    add_gradient(network, {"x"}, {"x"}, {"w"}, "y");
    CHECK_THROWS_AS(slopes(network, "d0"), d5::ShapeError);
  }
  SECTION("of a Gradient") {
    add_gradient(network, {"x", "w"}, {"x", "w"}, {}, "y");
    d5::onnx::Model model = network.model();
    d5::onnx::Node second = model.graph.nodes.back();
    second.name = "curvature";
    second.outputs = {"dd0", "dd1"};
    second.attributes["y"] = "d0";
    model.graph.nodes.push_back(second);
    model.graph.outputs.push_back({"dd0", {}});
    const d5::Network curved(std::move(model));
    CHECK_THROWS_AS(slopes(curved, "dd0"), d5::Unsupported);
    CHECK_THROWS_WITH(slopes(curved, "dd0"), Catch::Contains("Gradient 'slopes' has no gradient"));
  }
}
