// SPDX-License-Identifier: Apache-2.0
// Executors on the device "toy": memory that the host cannot touch, work that is done later by
// another thread. A missing copy crashes, a missing wait reads what was there before.
#include <catch2/catch.hpp>
#include <cstring>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/level1_network/graph/execution_event.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "d5/level1_network/source/models.hpp"
#include "tests/on_toy.hpp"

using namespace d5;
namespace test = d5::test;

namespace {

bool same_bits(const Tensor& a, const Tensor& b) {
  const Tensor here = a.copy(Device{}), there = b.copy(Device{});
  return here.desc() == there.desc() && std::memcmp(here.raw(), there.raw(), here.bytes()) == 0;
}

Tensor normal(const Shape& shape, std::uint64_t seed) {
  RandomStream random(seed);
  Tensor result = Tensor::empty(DType::float32, shape);
  for (float& value : result.span<float>()) value = random.normal();
  return result;
}

ValueMap digits(std::uint64_t seed) {
  return {{"image", normal({4, 1, 28, 28}, seed)},
          {"label", Tensor::of<std::int64_t>({4}, {3, 1, 4, std::int64_t(seed % 10)})}};
}

Network lenet() { return models().at("lenet").make({{"seed", 7}, {"with_loss", true}}); }

/// The toy has Relu and Gemm, but neither Sigmoid nor Add. `r` and `w` have two readers each: the
/// sum of two terms has the same bits in any order.
Network mixed() {
  Network network("mixed");
  network.add_input("x", DType::float32, {3, 5});
  network.add_parameter("w", normal({5, 5}, 1));
  network.add_parameter("shift", normal({5}, 2));
  network.add_node("Gemm", {"x", "w"}, {"g"});
  network.add_node("Relu", {"g"}, {"r"});
  network.add_node("Sigmoid", {"r"}, {"s"});
  network.add_node("Gemm", {"s", "w"}, {"h"});
  network.add_node("Add", {"h", "x"}, {"a"});
  network.add_node("Add", {"a", "shift"}, {"b"});
  network.add_node("Relu", {"b"}, {"c"});
  network.add_node("Gemm", {"c", "r"}, {"product"}, {{"transB", std::int64_t{1}}});
  network.add_node("ReduceMean", {"product"}, {"loss"}, {{"keepdims", std::int64_t{0}}});
  network.add_output("product");
  network.add_output("loss");
  return network;
}

/// Beside each copy to the device the host has work of its own, for which it needs memory.
Network busy_host() {
  Network network("busy host");
  network.add_input("x", DType::float32, {3, 5});
  network.add_parameter("w", normal({5, 5}, 1));
  network.add_input("p", DType::float32, {3, 5});
  network.add_node("Sigmoid", {"x"}, {"a"});
  network.add_node("Gemm", {"a", "w"}, {"g"});
  std::string last = "p";
  for (const char* next : {"t1", "t2", "t3", "t4", "t5", "t6"}) {
    network.add_node("Softplus", {last}, {next});
    last = next;
  }
  network.add_node("Relu", {"g"}, {"r"});
  network.add_node("Sigmoid", {"r"}, {"s"});
  network.add_node("Add", {"s", last}, {"m"});
  network.add_node("ReduceMean", {"m"}, {"loss"}, {{"keepdims", std::int64_t{0}}});
  network.add_output("g");
  network.add_output("loss");
  return network;
}

/// A Loop, which runs on the host, between nodes of the device. It captures a parameter and a value
/// of the device.
Network looping() {
  auto body = std::make_shared<onnx::Graph>();
  body->name = "body";
  for (const char* name : {"t", "go", "s"}) body->inputs.push_back({name, {}});
  const auto add_node = [&](const char* op_type, const char* a, const char* b, const char* y) {
    onnx::Node& node = body->nodes.emplace_back();
    node.op_type = op_type;
    node.opset = 21;
    node.inputs = {a, b};
    node.outputs = {y};
  };
  add_node("Mul", "s", "r", "p");
  add_node("Add", "p", "w", "q");
  for (const char* name : {"go", "q"}) body->outputs.push_back({name, {}});
  Network network("looping");
  network.add_input("x", DType::float32, {5, 5});
  network.add_parameter("w", normal({5, 5}, 1));
  network.add_constant("trips", Tensor::scalar(std::int64_t{1}));
  network.add_constant("always", Tensor::scalar(true));
  network.add_node("Gemm", {"x", "w"}, {"g"});
  network.add_node("Relu", {"g"}, {"r"});
  network.add_node("Loop", {"trips", "always", "x"}, {"y"},
                   {{"body", std::shared_ptr<const onnx::Graph>(body)}});
  network.add_node("ReduceMean", {"y"}, {"loss"}, {{"keepdims", std::int64_t{0}}});
  network.add_output("y");
  network.add_output("loss");
  return network;
}

void check_gradients(GraphExecutor& subject, GraphExecutor& reference) {
  auto& theirs = reference.network().parameters();
  auto& ours = subject.network().parameters();
  REQUIRE(ours.size() == theirs.size());
  for (std::size_t i = 0; i < ours.size(); ++i) {
    INFO(ours[i].name);
    CHECK(same_bits(ours[i].gradient, theirs[i].gradient));
  }
}

void check_mixed(const Network& network, const std::string& output, const ValueMap& fed,
                 const std::vector<std::string>& gradients) {
  const auto copy = Network(network.model());
  const auto on_device = make_executor(
      network, {.frameworks = {"toy", "reference"}, .device = test::toy(), .gradients = gradients});
  const auto reference = make_executor(copy, {.gradients = gradients});
  for (int run = 0; run < 3; ++run) {
    CHECK(same_bits(on_device->inference(fed).at(output).tensor(),
                    reference->inference(fed).at(output).tensor()));
    const ValueMap& expected = reference->inference_and_backprop(fed, "loss");
    const ValueMap& got = on_device->inference_and_backprop(fed, "loss");
    CHECK(same_bits(got.at(output).tensor(), expected.at(output).tensor()));
    CHECK(same_bits(got.at("loss").tensor(), expected.at("loss").tensor()));
    on_device->synchronise();
    check_gradients(*on_device, *reference);
    for (const auto& name : gradients) {
      CHECK(same_bits(on_device->gradient(name), reference->gradient(name)));
    }
  }
}

class Whereabouts final : public ExecutionEvent {
 public:
  std::vector<std::pair<std::string, Device>> seen;
  int ready = 0;
  void before_node(const StepInfo& step) override {
    seen.emplace_back(step.node.op_type, step.device);
  }
  void gradient_ready(Parameter& parameter, std::size_t, Stream& stream) override {
    CHECK(parameter.gradient.device() == stream.device());
    stream.record()->wait();
    ++ready;
  }
};

}  // namespace

TEST_CASE("LeNet on a device that the host cannot reach gives the reference's bits") {
  std::vector<std::string> inner{"image"};
  const Network described = lenet();
  for (const auto& node : described.graph().nodes) inner.push_back(node.outputs.front());
  const auto on_device =
      make_executor(lenet(), {.frameworks = {"toy"}, .device = test::toy(), .gradients = inner});
  const auto reference = make_executor(lenet(), {.gradients = inner});
  for (std::uint64_t run = 0; run < 3; ++run) {
    const ValueMap fed = digits(run);
    const ValueMap& expected = reference->inference_and_backprop(fed, "loss");
    const ValueMap& got = on_device->inference_and_backprop(fed, "loss");
    for (const auto& [name, value] : expected) {
      INFO(name);
      CHECK(same_bits(got.at(name).tensor(), value.tensor()));
    }
    on_device->synchronise();
    check_gradients(*on_device, *reference);
    for (const auto& name : inner) {
      INFO(name);
      CHECK(same_bits(on_device->gradient(name).copy(Device{}), reference->gradient(name)));
    }
    CHECK(same_bits(on_device->inference(fed).at("logits").tensor(),
                    reference->inference(fed).at("logits").tensor()));
  }
  CHECK(on_device->network().parameters().front().value.device() == test::toy());
}

TEST_CASE("nodes that the device lacks run on the host, with copies in between") {
  check_mixed(mixed(), "product", {{"x", normal({3, 5}, 10)}}, {});
}

TEST_CASE("the host's memory is not used again before a device has read it") {
  check_mixed(busy_host(), "g", {{"x", normal({3, 5}, 10)}, {"p", normal({3, 5}, 11)}}, {"p"});
}

TEST_CASE(
    "what a graph on the host captures comes from a device, and its gradient goes back there") {
  check_mixed(looping(), "y", {{"x", normal({5, 5}, 10)}}, {"x"});
}

TEST_CASE("observers see where each step runs, and when a gradient is final there") {
  auto places = std::make_shared<Whereabouts>();
  const auto executor =
      make_executor(mixed(), {.frameworks = {"toy", "reference"}, .device = test::toy()});
  executor->events().add(places);
  executor->inference_and_backprop({{"x", normal({3, 5}, 1)}}, "loss");
  CHECK(places->ready == 2);
  for (const auto& [op_type, device] : places->seen) {
    if (op_type == "Gemm" || op_type == "Relu") CHECK(device == test::toy());
    if (op_type == "Sigmoid" || op_type == "Add") CHECK(device == Device{});
  }
}

TEST_CASE("what is fed may be changed as soon as a run returns") {
  const auto on_device = make_executor(
      lenet(), {.frameworks = {"toy"}, .device = test::toy(), .outputs = OutputPlace::device});
  const auto reference = make_executor(lenet());
  ValueMap fed = digits(5);
  const Tensor expected = reference->inference(fed).at("logits").tensor().copy();
  const Tensor got = on_device->inference(fed).at("logits").tensor();
  for (float& value : fed.at("image").tensor().span<float>()) value = 0;
  CHECK(got.device() == test::toy());
  on_device->synchronise();
  CHECK(same_bits(got, expected));
}

TEST_CASE("a device for which no framework has a kernel is refused, with the way out") {
  const auto executor =
      make_executor(lenet(), {.frameworks = {"reference"}, .device = test::toy()});
  CHECK_THROWS_AS(executor->inference(digits(1)), Unsupported);
}

TEST_CASE("a device whose copy fails ends the run with its error") {
  CHECK_THROWS_AS(
      make_executor(lenet(), {.frameworks = {"toy"}, .device = test::toy(1)})->inference(digits(1)),
      DeviceError);
}
