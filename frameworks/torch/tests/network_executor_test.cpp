// SPDX-License-Identifier: Apache-2.0
// Compares whole networks with the reference: torch's own executor, and the plan with torch's
// operators.
#include <catch2/catch.hpp>

#include "d5/core/tensor/random.hpp"
#include "d5/level1_network/level1_network.hpp"
#include "frameworks/torch/tests/own_executor.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using d5::test::own_executor;

namespace {

Network lenet() { return models().at("lenet").make({{"seed", 3}, {"with_loss", true}}); }

ValueMap images(std::int64_t count) {
  Tensor image = Tensor::empty(DType::float32, {count, 1, 28, 28});
  Tensor label = Tensor::empty(DType::int64, {count});
  RandomStream random(5);
  for (float& value : image.span<float>()) value = random.normal();
  for (auto& value : label.span<std::int64_t>()) value = std::int64_t(random.below(10));
  return {{"image", image}, {"label", label}};
}

void check_executor(const std::vector<Measurement>& records) {
  REQUIRE_FALSE(records.empty());
  for (const auto& record : records) {
    INFO(record.subject << ": " << record.reason);
    CHECK(agrees(record));
  }
}

// Sums of a few hundred float32 products in different order, through four layers.
constexpr ForwardTolerance kExecutorTolerance{.relative = 1e-4, .absolute = 1e-5};

class StepCount final : public ExecutionEvent {
 public:
  void after_node(const StepInfo& step) override {
    CHECK(step.step == count);
    CHECK(step.framework == "torch");
    flop += step.cost.flop;
    ++count;
  }
  std::size_t count = 0;
  double flop = 0;
};

class ReadyOrder final : public ExecutionEvent {
 public:
  void gradient_ready(Parameter&, std::size_t index, Stream&) override { order.push_back(index); }
  std::vector<std::size_t> order;
};

}  // namespace

TEST_CASE("torch's own executor gives the reference's outputs and gradients") {
  const auto subject = own_executor(lenet());
  const auto reference = make_executor(lenet());
  check_executor(test_executor(*subject, *reference, images(3), kExecutorTolerance));
  check_executor(
      test_executor_backprop(*subject, *reference, images(3), "loss", kExecutorTolerance));
  // Gradients are overwritten, not accumulated.
  check_executor(
      test_executor_backprop(*subject, *reference, images(2), "loss", kExecutorTolerance));
}

TEST_CASE("a plan of torch's operators gives the reference's outputs and gradients") {
  const auto subject = make_executor(lenet(), {.frameworks = {"torch", "reference"}});
  const auto reference = make_executor(lenet());
  check_executor(test_executor(*subject, *reference, images(3), kExecutorTolerance));
  check_executor(
      test_executor_backprop(*subject, *reference, images(3), "loss", kExecutorTolerance));
}

TEST_CASE("torch's own executor reads and writes the network's arenas") {
  const auto executor = own_executor(lenet());
  Network& network = executor->network();
  const ValueMap inputs = images(2);
  const float before = executor->inference(inputs).at("loss").tensor().item<float>();
  for (float& value : network.parameter_arena().span<float>()) value = 0;
  // All scores are equal then, and the loss is log 10.
  const float after = executor->inference(inputs).at("loss").tensor().item<float>();
  CHECK(before != after);
  CHECK(after == Approx(2.302585));
}

TEST_CASE("gradients are announced once each, in the order of the arena") {
  const auto executor = own_executor(lenet());
  const auto ready = std::make_shared<ReadyOrder>();
  executor->events().add(ready);
  executor->inference_and_backprop(images(1), "loss");
  REQUIRE(ready->order.size() == executor->network().parameters().size());
  for (std::size_t i = 0; i < ready->order.size(); ++i) CHECK(ready->order[i] == i);
}

TEST_CASE("observers of torch's own executor see each node once, and its work") {
  const auto executor = own_executor(lenet());
  const auto steps = std::make_shared<StepCount>();
  executor->events().add(steps);
  executor->inference(images(1));
  CHECK(steps->count == executor->network().graph().nodes.size());
  // The first convolution alone: 6 channels of 28x28 outputs, 25 products and sums each.
  CHECK(steps->flop > 6 * 28 * 28 * 25 * 2);
}

TEST_CASE("torch's own executor follows shapes that change, and shapes that data decide") {
  // y = x as rows of half its width, and the positions of its positive elements.
  Network network("shapes");
  network.add_input("x", DType::float32, {"N", "C"});
  network.add_constant("two", Tensor::vector<std::int64_t>({1, 2}));
  network.add_constant("factors", Tensor::vector<std::int64_t>({2, 0}));
  network.add_constant("zero", Tensor::scalar(0.0f));
  network.add_node("Shape", {"x"}, {"shape"});
  network.add_node("Div", {"shape", "two"}, {"halves"});
  network.add_node("Mul", {"halves", "factors"}, {"rows_0"});
  network.add_constant("ones", Tensor::vector<std::int64_t>({0, -1}));
  network.add_node("Add", {"rows_0", "ones"}, {"rows"});
  network.add_node("Reshape", {"x", "rows"}, {"y"});
  network.add_node("Greater", {"x", "zero"}, {"positive"});
  network.add_node("NonZero", {"positive"}, {"places"});
  network.add_node("Transpose", {"places"}, {"pairs"});
  for (const char* name : {"y", "pairs"}) network.add_output(name);
  const auto subject = own_executor(network);
  const auto reference = make_executor(network);
  RandomStream random(11);
  for (const std::int64_t rows : {2, 2, 3, 2}) {
    Tensor x = Tensor::empty(DType::float32, {rows, 4});
    for (float& element : x.span<float>()) element = random.normal();
    check_executor(test_executor(*subject, *reference, {{"x", x}}, kExecutorTolerance));
  }
}

TEST_CASE("torch's own executor refuses shapes as the reference does") {
  Network network("product");
  network.add_input("x", DType::float32, {"N", "C"});
  network.add_constant("w", Tensor::zeros(DType::float32, {3, 2}));
  network.add_node("MatMul", {"x", "w"}, {"y"});
  network.add_output("y");
  const auto executor = own_executor(network);
  CHECK_NOTHROW(executor->inference({{"x", Tensor::zeros(DType::float32, {5, 3})}}));
  CHECK_THROWS_AS(executor->inference({{"x", Tensor::zeros(DType::float32, {5, 4})}}), ShapeError);
}

TEST_CASE("a trace shows the run and its steps, and an interrupt ends it") {
  const auto executor = own_executor(lenet());
  Trace::start();
  (void)executor->inference(images(1));
  Trace::stop();
  Timeline timeline = Trace::timeline();
  std::erase_if(timeline.records, [](const auto& one) { return one.level == "torch"; });  // calls
  REQUIRE(timeline.records.size() == executor->network().graph().nodes.size() + 1);
  const TraceRecord& run = timeline.records.front();
  CHECK(run.level == "network");
  CHECK(run.arguments.back() == TraceArgument{"framework", "torch"});
  for (std::size_t i = 1; i < timeline.records.size(); ++i) {
    CHECK(timeline.records[i].level == "operator");
    CHECK(timeline.records[i].parent == run.id);
  }
  executor->events().add(std::make_shared<ExecutionInterrupt>(Interrupt{.deadline = 0}));
  CHECK_THROWS_AS(executor->inference(images(1)), Interrupted);
}

TEST_CASE("gradients arrive whole where several tensors fit one place") {
  // Both layers share their weight; all weights, biases and activations have nine elements.
  const auto make = [] {
    Network network("squares");
    network.add_input("x", DType::float32, {3, 3});
    network.add_input("label", DType::int64, {3});
    RandomStream random(9);
    for (const std::string name : {"w", "v", "b", "unused"}) {
      Tensor value = Tensor::empty(DType::float32, {3, 3});
      for (float& element : value.span<float>()) element = random.normal();
      network.add_parameter(name, value);
    }
    network.add_node("Gemm", {"x", "w", "b"}, {"h1"});
    network.add_node("Gemm", {"h1", "w", "b"}, {"h2"});
    network.add_node("Mul", {"h2", "v"}, {"h3"});
    network.add_node("Add", {"h3", "v"}, {"logits"});
    network.add_node("Relu", {"unused"}, {"aside"});
    network.add_node("SoftmaxCrossEntropyLoss", {"logits", "label"}, {"loss"});
    for (const char* name : {"logits", "aside", "loss"}) network.add_output(name);
    return network;
  };
  Tensor x = Tensor::empty(DType::float32, {3, 3});
  RandomStream random(10);
  for (float& element : x.span<float>()) element = random.normal();
  const ValueMap inputs{{"x", x}, {"label", Tensor::vector<std::int64_t>({0, 1, 2})}};
  const auto subject = own_executor(make(), {.gradients = {"x"}});
  const auto reference = make_executor(make(), {.gradients = {"x"}});
  for (int run = 0; run < 3; ++run) {
    check_executor(
        test_executor_backprop(*subject, *reference, inputs, "loss", kExecutorTolerance));
    (void)reference->inference_and_backprop(inputs, "loss");  // its last run was on others
    CHECK(
        compare_values(subject->gradient("x"), reference->gradient("x"), kExecutorTolerance).equal);
  }
}

TEST_CASE("a restored executor draws the random numbers that would have come next") {
  const auto make = [] {
    Network network("dropout");
    network.add_input("x", DType::float32, {100});
    network.add_constant("ratio", Tensor::scalar(0.5f));
    network.add_constant("training", Tensor::scalar(true));
    network.add_node("Dropout", {"x", "ratio", "training"}, {"y"});
    network.add_output("y");
    return network;
  };
  Tensor x = Tensor::zeros(DType::float32, {100});
  for (float& element : x.span<float>()) element = 1;
  const auto run = [&](GraphExecutor& executor) {
    const auto y = executor.inference({{"x", x}}).at("y").tensor().span<float>();
    return std::vector<float>(y.begin(), y.end());
  };
  const auto first = own_executor(make()), second = own_executor(make());
  const auto once = run(*first);
  const ValueMap state = first->state();
  const auto twice = run(*first);
  CHECK(once != twice);
  second->restore(state);
  CHECK(run(*second) == twice);
  CHECK_THROWS_AS(second->restore({}), NotFound);
}

TEST_CASE("the gradient of an input is given where it was asked for") {
  const auto subject = own_executor(lenet(), {.gradients = {"image"}});
  const auto reference = make_executor(lenet(), {.gradients = {"image"}});
  const ValueMap inputs = images(2);
  subject->inference_and_backprop(inputs, "loss");
  reference->inference_and_backprop(inputs, "loss");
  CHECK(compare_values(subject->gradient("image"), reference->gradient("image"), kExecutorTolerance)
            .equal);
  CHECK_THROWS_AS(subject->gradient("label"), NotFound);
}

TEST_CASE("a network that torch cannot run, and wrong inputs, are refused by name") {
  Network network("text");
  network.add_input("a", DType::string, {"N"});
  network.add_node("StringConcat", {"a", "a"}, {"b"});
  network.add_output("b");
  CHECK_THROWS_AS(own_executor(network), Unsupported);

  const auto executor = own_executor(lenet());
  ValueMap inputs = images(1);
  CHECK_THROWS_AS(executor->inference({}), NotFound);
  CHECK_THROWS_AS(executor->inference_and_backprop(inputs, "lost"), NotFound);
  inputs["image"] = Tensor::zeros(DType::float32, {1, 1, 27, 28});
  CHECK_THROWS_AS(executor->inference(inputs), ShapeError);
  inputs["image"] = Tensor::zeros(DType::float64, {1, 1, 28, 28});
  CHECK_THROWS_AS(executor->inference(inputs), TypeError);
}

TEST_CASE("torch's own executor switches batch normalization and dropout as the plan does") {
  Network network("both");
  network.add_input("x", DType::float32, {"N", std::int64_t{2}});
  network.add_parameter("scale", Tensor::vector<float>({1, 2}));
  network.add_parameter("shift", Tensor::vector<float>({0, 1}));
  network.add_constant("mean", Tensor::vector<float>({0, 3}));
  network.add_constant("variance", Tensor::vector<float>({1, 4}));
  network.add_node("BatchNormalization", {"x", "scale", "shift", "mean", "variance"}, {"n"});
  network.add_constant("ratio", Tensor::scalar(0.5f));
  network.add_node("Dropout", {"n", "ratio"}, {"y"});
  network.add_output("n");
  network.add_output("y");
  const ValueMap x{{"x", Tensor::of<float>({3, 2}, {1, 2, 3, 4, 8, 9})}};
  const auto subject = own_executor(network.copy());
  const auto reference = make_executor(network.copy());
  for (const auto mode : {NetworkMode::inference, NetworkMode::training, NetworkMode::inference,
                          NetworkMode::as_written}) {
    subject->set_mode(mode);
    reference->set_mode(mode);
    const auto& got = subject->inference(x);
    const auto& expected = reference->inference(x);
    CHECK(compare_values(got.at("n"), expected.at("n"), kExecutorTolerance).equal);
    const bool drops = !compare_values(got.at("y"), got.at("n"), {0, 0}).equal;
    CHECK(drops == (mode == NetworkMode::training));
    for (const char* name : {"mean", "variance"}) {
      CHECK(compare_values(subject->network().fetch(name), reference->network().fetch(name),
                           kExecutorTolerance)
                .equal);
    }
  }
}
