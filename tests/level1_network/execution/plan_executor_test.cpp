// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/execution_event.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"

namespace {

using d5::DType;
using d5::Tensor;
using d5::ValueMap;

std::vector<float> floats(const d5::Value& value) {
  const auto span = value.tensor().span<float>();
  return {span.begin(), span.end()};
}
std::vector<float> floats(const Tensor& tensor) { return floats(d5::Value(tensor)); }

/// loss = w * x * relu(w * x), a parameter with three readers: with u = w x > 0 the loss is u^2,
/// and its slope by w is 2 u x.
d5::Network squared() {
  d5::Network network("squared");
  network.add_input("x", DType::float32, {1});
  network.add_parameter("w", Tensor::of<float>({1}, {3}));
  network.add_parameter("idle", Tensor::of<float>({1}, {7}));
  network.add_node("Mul", {"w", "x"}, {"u"});
  network.add_node("Mul", {"x", "w"}, {"v"});
  network.add_node("Relu", {"v"}, {"r"});
  network.add_node("Mul", {"u", "r"}, {"loss"});
  network.add_output("loss");
  return network;
}

class Recorder final : public d5::ExecutionEvent {
 public:
  std::vector<std::string> log;
  void before_run(d5::Pass) override { log.push_back("begin"); }
  void after_run(d5::Pass) override { log.push_back("end"); }
  void after_node(const d5::StepInfo& step) override {
    log.push_back((step.pass == d5::Pass::forward ? "forward " : "backward ") + step.node.op_type);
  }
  void gradient_ready(d5::Parameter& parameter, std::size_t index, d5::Stream&) override {
    log.push_back("gradient " + std::to_string(index) + " " + parameter.name + " " +
                  std::to_string(int(parameter.gradient.span<float>()[0])));
  }
};

}  // namespace

TEST_CASE("inference answers with every output") {
  auto executor = d5::make_executor(squared());
  const ValueMap& outputs = executor->inference({{"x", Tensor::of<float>({1}, {2})}});
  CHECK(outputs.size() == 1);
  CHECK(floats(outputs.at("loss")) == std::vector<float>{36});
}

TEST_CASE("gradients of several readers are added up, those of none are zero") {
  auto executor = d5::make_executor(squared(), {.gradients = {"x"}});
  for (int run = 0; run < 2; ++run) {
    (void)executor->inference_and_backprop({{"x", Tensor::of<float>({1}, {2})}}, "loss");
    CHECK(floats(executor->network().parameter("w").gradient) == std::vector<float>{24});
    CHECK(floats(executor->network().parameter("idle").gradient) == std::vector<float>{0});
    CHECK(floats(executor->gradient("x")) == std::vector<float>{36});  // 2 u w
  }
}

TEST_CASE("a gradient is announced once, as soon as it is final, in the order of the arena") {
  auto executor = d5::make_executor(squared());
  auto recorder = std::make_shared<Recorder>();
  executor->events().add(recorder);
  (void)executor->inference_and_backprop({{"x", Tensor::of<float>({1}, {2})}}, "loss");
  CHECK(recorder->log == std::vector<std::string>{"begin", "forward Mul", "forward Mul",
                                                  "forward Relu", "forward Mul", "backward Mul",
                                                  "backward Relu", "backward Mul", "backward Mul",
                                                  "gradient 0 w 24", "gradient 1 idle 0", "end"});
}

TEST_CASE("observers see what a step is, whose kernel it runs, and its work") {
  class Steps final : public d5::ExecutionEvent {
   public:
    std::vector<d5::StepInfo> seen;
    void before_node(const d5::StepInfo& step) override { seen.push_back(step); }
  };
  auto executor = d5::make_executor(squared());
  auto steps = std::make_shared<Steps>();
  executor->events().add(steps);
  (void)executor->inference_and_backprop({{"x", Tensor::of<float>({1}, {2})}}, "loss");
  REQUIRE(steps->seen.size() == 8);
  for (std::size_t i = 0; i < 8; ++i) {
    const d5::StepInfo& step = steps->seen[i];
    CHECK(step.step == i);
    CHECK(step.framework == "reference");
    CHECK(step.device == d5::Device{});
    CHECK(step.cost.flop == 1);
  }
  CHECK(steps->seen[3].cost.bytes_read == 8);  // two float32
  CHECK(steps->seen[3].cost.bytes_written == 4);
}

TEST_CASE("a wrong feed is refused with the name that was meant") {
  auto executor = d5::make_executor(squared());
  const Tensor x = Tensor::of<float>({1}, {2});
  CHECK_THROWS_AS(executor->inference({}), d5::NotFound);
  CHECK_THROWS_WITH(executor->inference({{"xx", x}}), Catch::Contains("did you mean x"));
  CHECK_THROWS_AS(executor->inference({{"x", Tensor::zeros(DType::float64, {1})}}), d5::TypeError);
  CHECK_THROWS_AS(executor->inference({{"x", Tensor::zeros(DType::float32, {2})}}), d5::ShapeError);
  CHECK_THROWS_AS(executor->inference_and_backprop({{"x", x}}, "lost"), d5::NotFound);
}

TEST_CASE("a loss that is no scalar is refused") {
  d5::Network network("vector");
  network.add_input("x", DType::float32, {"N"});
  network.add_node("Relu", {"x"}, {"y"});
  network.add_output("y");
  auto executor = d5::make_executor(network, {.gradients = {"x"}});
  CHECK_THROWS_AS(
      executor->inference_and_backprop({{"x", Tensor::zeros(DType::float32, {2})}}, "y"),
      d5::ShapeError);
}

TEST_CASE("a plan is made for each set of shapes, and again after an edit") {
  d5::Network network("growing");
  network.add_input("x", DType::float32, {"N"});
  network.add_node("Relu", {"x"}, {"y"});
  network.add_output("y");
  auto executor = d5::make_executor(network);
  CHECK(floats(executor->inference({{"x", Tensor::of<float>({2}, {-1, 2})}}).at("y")) ==
        std::vector<float>{0, 2});
  CHECK(floats(executor->inference({{"x", Tensor::of<float>({3}, {3, -2, 1})}}).at("y")) ==
        std::vector<float>{3, 0, 1});
  network.add_node("Add", {"y", "y"}, {"z"});
  network.add_output("z");
  CHECK(floats(executor->inference({{"x", Tensor::of<float>({2}, {-1, 2})}}).at("z")) ==
        std::vector<float>{0, 4});
}

TEST_CASE("inputs are never written over") {
  d5::Network network("chain");
  network.add_input("x", DType::float32, {2});
  network.add_node("Relu", {"x"}, {"a"});
  network.add_node("Relu", {"a"}, {"b"});
  network.add_node("Add", {"a", "b"}, {"c"});
  network.add_output("c");
  const Tensor x = Tensor::of<float>({2}, {-1, 2});
  auto executor = d5::make_executor(network);
  CHECK(floats(executor->inference({{"x", x}}).at("c")) == std::vector<float>{0, 4});
  CHECK(floats(x) == std::vector<float>{-1, 2});
}

TEST_CASE("an output may be an input or a constant") {
  d5::Network network("through");
  network.add_input("x", DType::float32, {"N"});
  network.add_constant("c", Tensor::of<float>({1}, {5}));
  network.add_node("Add", {"c", "c"}, {"folded"});
  for (const char* name : {"x", "c", "folded"}) network.add_output(name);
  auto executor = d5::make_executor(network);
  for (float value : {1.0f, 2.0f}) {
    const auto& outputs = executor->inference({{"x", Tensor::of<float>({1}, {value})}});
    CHECK(floats(outputs.at("x")) == std::vector<float>{value});
    CHECK(floats(outputs.at("c")) == std::vector<float>{5});
    CHECK(floats(outputs.at("folded")) == std::vector<float>{10});
  }
  network.feed("c", Tensor::of<float>({1}, {6}));
  const auto& outputs = executor->inference({{"x", Tensor::of<float>({1}, {1})}});
  CHECK(floats(outputs.at("folded")) == std::vector<float>{12});
}

TEST_CASE("a constant takes over its update after each run") {
  d5::Network network("counter");
  network.add_constant("count", Tensor::of<float>({1}, {0}));
  network.add_constant("one", Tensor::of<float>({1}, {1}));
  network.add_node("Add", {"count", "one"}, {"next"});
  network.add_update("count", "next");
  network.add_output("next");
  auto executor = d5::make_executor(network);
  for (float expected : {1.0f, 2.0f, 3.0f}) {
    CHECK(floats(executor->inference({}).at("next")) == std::vector<float>{expected});
  }
  CHECK(floats(network.fetch("count")) == std::vector<float>{3});
}

TEST_CASE("an operator that no framework has is named") {
  d5::Network network("strange");
  network.add_input("x", DType::float32, {1});
  network.add_node("Frobnicate", {"x"}, {"y"}, {}, "odd");
  network.add_output("y");
  auto executor = d5::make_executor(network);
  CHECK_THROWS_WITH(executor->inference({{"x", Tensor::zeros(DType::float32, {1})}}),
                    Catch::Contains("Frobnicate 'odd'") && Catch::Contains("reference"));
}
