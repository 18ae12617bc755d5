// SPDX-License-Identifier: Apache-2.0
// Tests of gradients by torch's own executor: for any tensor, from given gradients, and in runs
// that end early.
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/level1_network.hpp"
#include "frameworks/torch/tests/own_executor.hpp"

using namespace d5;
using d5::test::own_executor;

namespace {

Tensor numbers(std::initializer_list<float> values) { return Tensor::vector<float>(values); }
float number(const Tensor& tensor) { return tensor.span<float>()[0]; }

/// u = w x, same = u, y = c same, z = u same: u and `same` are one tensor of torch's.
Network branches() {
  Network network("branches");
  network.add_input("x", DType::float32, {1});
  network.add_parameter("w", numbers({3}));
  network.add_constant("c", numbers({5}));
  network.add_node("Mul", {"w", "x"}, {"u"});
  network.add_node("Identity", {"u"}, {"same"});
  network.add_node("Mul", {"c", "same"}, {"y"});
  network.add_node("Mul", {"u", "same"}, {"z"});
  network.add_node("Relu", {"u"}, {"aside"});
  for (const char* name : {"y", "z", "aside"}) network.add_output(name);
  return network;
}
const ValueMap kTwo{{"x", numbers({2})}};  // u = 6, y = 30, z = 36

// Sums of a few hundred float32 products in different order, through four layers.
constexpr ForwardTolerance kTolerance{.relative = 1e-4, .absolute = 1e-5};

class EndAfter final : public ExecutionEvent {
 public:
  EndAfter(GraphExecutor& executor, std::string output)
      : executor_(executor), output_(std::move(output)) {}
  void after_node(const StepInfo& step) override {
    if (wants && step.node.outputs.front() == output_) executor_.end_run();
  }
  void before_pass(Pass pass) override { backward += pass == Pass::backward ? 1 : 0; }
  void after_run(Pass) override { ++runs; }
  bool wants = true;
  int runs = 0, backward = 0;

 private:
  GraphExecutor& executor_;
  std::string output_;
};

}  // namespace

TEST_CASE("torch's own executor leaves parameters alone where only other gradients are wanted") {
  const auto executor =
      own_executor(branches(), {.gradients = {"same", "w"}, .parameter_gradients = false});
  executor->network().parameter("w").gradient.copy_from(numbers({7}));
  (void)executor->inference_and_backprop(kTwo, "y");
  CHECK(number(executor->gradient("same")) == 5);
  CHECK(number(executor->gradient("w")) == 10);
  CHECK(number(executor->network().parameter("w").gradient) == 7);
}

TEST_CASE("torch's own executor goes back from given gradients, several batches at once") {
  const auto executor = own_executor(branches(), {.gradients = {"u"}});
  const auto first = executor->forward(kTwo, {"y", "z"});
  const auto second = executor->forward({{"x", numbers({1})}}, {"y", "z"});
  CHECK(number(first->outputs().at("z").tensor()) == 36);
  CHECK_THROWS_AS(first->gradient("u"), NotFound);
  second->backward({{"y", numbers({1})}});
  CHECK(number(second->gradient("u")) == 5);
  CHECK(number(executor->network().parameter("w").gradient) == 5);
  first->backward({{"y", numbers({10})}, {"z", numbers({100})}});
  CHECK(number(first->gradient("u")) == 10 * 5 + 100 * 12);
  CHECK(number(executor->network().parameter("w").gradient) == 2 * (10 * 5 + 100 * 12));
  CHECK_THROWS_AS(first->backward({}), ValueError);
}

TEST_CASE("gradients that do not fit torch's batch in flight are refused") {
  const auto executor = own_executor(branches());
  CHECK_THROWS_AS(executor->forward(kTwo, {}), ValueError);
  CHECK_THROWS_AS(executor->forward(kTwo, {"yy"}), NotFound);
  const auto batch = executor->forward(kTwo, {"y"});
  CHECK_THROWS_AS(batch->backward({{"z", numbers({1})}}), NotFound);
  CHECK_THROWS_AS(batch->backward({{"y", numbers({1, 2})}}), ShapeError);
  CHECK_THROWS_AS(batch->backward({{"y", Tensor::vector<double>({1})}}), TypeError);
  batch->backward({});
  CHECK(number(executor->network().parameter("w").gradient) == 0);
}

TEST_CASE("torch's own executor gives the plan's gradients of LeNet's inner values") {
  const Network network = models().at("lenet").make({{"seed", 3}, {"with_loss", true}});
  const ValueMap inputs = random_inputs(network, {.batch = 3});
  ExecutorOptions options;
  for (const auto& node : network.graph().nodes) options.gradients.push_back(node.outputs.front());
  const auto subject = own_executor(network.copy(), options);
  const auto reference = make_executor(network.copy(), options);
  (void)subject->inference_and_backprop(inputs, "loss");
  (void)reference->inference_and_backprop(inputs, "loss");
  const auto batch = subject->forward(inputs, {"loss"});
  batch->backward({{"loss", Tensor::scalar(1.0f)}});
  for (const auto& name : options.gradients) {
    INFO(name);
    const Tensor& expected = reference->gradient(name);
    CHECK(compare_values(subject->gradient(name), expected, kTolerance).equal);
    CHECK(compare_values(batch->gradient(name), expected, kTolerance).equal);
  }
}

TEST_CASE("a batch in flight outlives the switch to another mode") {
  const auto executor = own_executor(branches());
  const auto batch = executor->forward(kTwo, {"z"});
  executor->set_mode(NetworkMode::inference);
  CHECK(number(executor->inference(kTwo).at("y").tensor()) == 30);
  batch->backward({{"z", numbers({1})}});
  CHECK(number(executor->network().parameter("w").gradient) == 24);
}

TEST_CASE("integers end a gradient's path, operators without one are refused by name") {
  Network network("places");
  network.add_input("x", DType::float32, {2});
  network.add_node("Relu", {"x"}, {"before"});
  network.add_node("ArgMax", {"before"}, {"place"}, {{"keepdims", std::int64_t{0}}});
  network.add_node("Cast", {"place"}, {"after"}, {{"to", std::int64_t(DType::float32)}});
  network.add_node("Mul", {"after", "before"}, {"product"});
  network.add_node("ReduceSum", {"product"}, {"loss"}, {{"keepdims", std::int64_t{0}}});
  network.add_node("Hardmax", {"before"}, {"hard"}, {}, "wall");
  network.add_node("ReduceSum", {"hard"}, {"broken"}, {{"keepdims", std::int64_t{0}}});
  network.add_output("loss");
  network.add_output("broken");
  const ValueMap inputs{{"x", numbers({1, 2})}};
  const auto executor = own_executor(network, {.gradients = {"before"}});
  (void)executor->inference_and_backprop(inputs, "loss");
  CHECK(number(executor->gradient("before")) == 1);
  CHECK_THROWS_AS(executor->inference_and_backprop(inputs, "broken"), Unsupported);
  CHECK_THROWS_WITH(executor->inference_and_backprop(inputs, "broken"),
                    Catch::Contains("Hardmax 'wall'"));
  const auto run = [&](const std::string& name) {
    (void)own_executor(network, {.gradients = {name}})->inference_and_backprop(inputs, "loss");
  };
  CHECK_THROWS_AS(run("place"), TypeError);
  CHECK_THROWS_AS(run("befor"), NotFound);
}

TEST_CASE("an observer ends runs of torch's own executor early") {
  const auto executor = own_executor(branches());
  const auto observer = std::make_shared<EndAfter>(*executor, "y");
  executor->events().add(observer);
  const ValueMap outputs = executor->inference(kTwo);
  CHECK(executor->ended_early());
  CHECK(outputs.size() == 1);
  CHECK(number(outputs.at("y").tensor()) == 30);
  (void)executor->inference_and_backprop(kTwo, "z");
  CHECK(executor->ended_early());
  CHECK(observer->backward == 0);
  CHECK(observer->runs == 2);
  observer->wants = false;
  (void)executor->inference_and_backprop(kTwo, "z");
  CHECK_FALSE(executor->ended_early());
  CHECK(observer->backward == 1);
  CHECK(number(executor->gradient("w")) == 24);
}
