// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "tests/level1_network/toy_framework.hpp"

namespace {

using d5::DType;
using d5::Tensor;

d5::onnx::Node inner_node(const std::string& op_type, std::vector<std::string> inputs,
                          std::vector<std::string> outputs) {
  d5::onnx::Node result;
  result.op_type = op_type;
  result.opset = 22;
  result.inputs = std::move(inputs);
  result.outputs = std::move(outputs);
  return result;
}

/// x -> x * factor + draw, `factor` captured from outside.
std::shared_ptr<const d5::onnx::Graph> body(bool draws) {
  auto graph = std::make_shared<d5::onnx::Graph>();
  graph->name = "body";
  graph->inputs = {{"inner", {}}};
  graph->nodes = {inner_node("Mul", {"inner", "factor"}, {"scaled"})};
  if (draws) {
    graph->nodes.push_back(inner_node("Draw", {}, {"noise"}));
    graph->nodes.push_back(inner_node("Add", {"scaled", "noise"}, {"noisy"}));
  }
  graph->outputs = {{draws ? "noisy" : "scaled", {}}};
  return graph;
}

/// y = body applied three times to x, factor = relu(f).
d5::Network repeated(bool draws) {
  d5::Network network("repeated");
  network.add_input("x", DType::float32, {1});
  network.add_input("f", DType::float32, {1});
  network.add_node("Relu", {"f"}, {"factor"});
  network.add_node("Repeat", {"x"}, {"y"}, {{"body", body(draws)}, {"times", std::int64_t{3}}});
  network.add_output("y");
  return network;
}

float run(d5::GraphExecutor& executor, float x, float f) {
  return executor
      .inference({{"x", Tensor::of<float>({1}, {x})}, {"f", Tensor::of<float>({1}, {f})}})
      .at("y")
      .tensor()
      .item<float>();
}

}  // namespace

TEST_CASE("a nested graph reads what it captures again in every run") {
  auto executor = d5::make_executor(repeated(false), {.frameworks = {toy::name(), "reference"}});
  CHECK(run(*executor, 1, 2) == 8);
  CHECK(run(*executor, 2, 3) == 54);
  CHECK(run(*executor, 2, -3) == 0);
}

TEST_CASE("a node in a nested graph draws other numbers in each iteration and run") {
  const d5::ExecutorOptions options{.frameworks = {toy::name(), "reference"}, .seed = 5};
  auto executor = d5::make_executor(repeated(true), options);
  const float first = run(*executor, 0, 1), second = run(*executor, 0, 1);
  CHECK(first != second);
  // Three equal draws d give 3 d; the first draw alone is what remains with factor 0 twice over.
  auto again = d5::make_executor(repeated(true), options);
  CHECK(run(*again, 0, 1) == first);
  const float last_draw = run(*again, 0, 0);
  CHECK(std::abs(second - 3 * last_draw) > 1e-3f);
}

TEST_CASE("a captured name that nothing defines is refused while building") {
  d5::Network network("broken");
  network.add_input("x", DType::float32, {1});
  CHECK_THROWS_WITH(network.add_node("Repeat", {"x"}, {"y"}, {{"body", body(false)}}),
                    Catch::Contains("factor"));
}

TEST_CASE("random numbers depend on seed, node and run, and are never folded") {
  d5::Network network("draws");
  network.add_node("Draw", {}, {"a"});
  network.add_node("Draw", {}, {"b"});
  network.add_output("a");
  network.add_output("b");
  const auto draws = [&](std::uint64_t seed) {
    auto executor = d5::make_executor(network, {.frameworks = {toy::name()}, .seed = seed});
    std::vector<float> values;
    for (int i = 0; i < 2; ++i) {
      for (const auto& [name, value] : executor->inference({})) {
        values.push_back(value.tensor().item<float>());
      }
    }
    return values;
  };
  const auto values = draws(1);
  CHECK(draws(1) == values);
  CHECK(draws(2) != values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) CHECK(values[i] != values[j]);
  }
}

TEST_CASE("an operator without gradient on the path to the loss is named") {
  d5::Network network("opaque");
  network.add_input("x", DType::float32, {1});
  network.add_parameter("w", Tensor::of<float>({1}, {3}));
  network.add_node("Mul", {"x", "w"}, {"y"});
  network.add_node("Opaque", {"y"}, {"z"}, {}, "wall");
  network.add_node("Opaque", {"x"}, {"beside"}, {}, "harmless");
  network.add_node("Mul", {"beside", "y"}, {"loss"});
  for (const char* name : {"z", "loss"}) network.add_output(name);
  auto executor = d5::make_executor(network, {.frameworks = {toy::name(), "reference"}});
  const d5::ValueMap inputs = {{"x", Tensor::of<float>({1}, {2})}};
  CHECK_THROWS_WITH(executor->inference_and_backprop(inputs, "z"),
                    Catch::Contains("Opaque 'wall'"));
  CHECK_THROWS_AS(executor->inference_and_backprop(inputs, "z"), d5::Unsupported);
  (void)executor->inference_and_backprop(inputs, "loss");
  CHECK(network.parameter("w").gradient.item<float>() == 4);
}
