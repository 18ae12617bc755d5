// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <functional>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/execution_event.hpp"
#include "d5/level1_network/plan/planned_memory.hpp"
#include "d5/level1_network/source/model_source.hpp"
#include "d5/level1_network/source/models.hpp"

using namespace d5;
using Catch::Contains;

namespace {

using Make = std::function<Network()>;

/// w x, then `length` times Softmax, and their sum: backward reads what each step wrote.
Network recomputed_chain(std::size_t length) {
  Network network("chain");
  network.add_input("x", DType::float32, {256});
  network.add_parameter("w", Tensor::of<float>({1}, {2}));
  network.add_node("Mul", {"x", "w"}, {"u"}, {}, "first");
  std::string last = "u";
  for (std::size_t i = 0; i < length; ++i) {
    const std::string next = "y" + std::to_string(i);
    const std::string block = "block" + std::to_string(i / 4);
    network.add_node("Softmax", {last}, {next}, {}, block + ".softmax" + std::to_string(i));
    last = next;
  }
  network.add_node("ReduceSum", {last}, {"loss"}, {{"keepdims", std::int64_t{0}}}, "sum");
  network.add_output("loss");
  return network;
}

/// Convolution, normalization by the batch whose statistics are updated, dropout, a branch.
Network mixed() {
  Network network("mixed");
  network.add_input("x", DType::float32, {"N", 3, 8, 8});
  const auto filled = [](const Shape& shape, float slope) {
    Tensor tensor = Tensor::empty(DType::float32, shape);
    for (std::int64_t i = 0; i < tensor.elements(); ++i) {
      tensor.data<float>()[i] = slope * float(i % 7 - 3);
    }
    return tensor;
  };
  network.add_parameter("w1", filled({4, 3, 3, 3}, 0.1f));
  network.add_parameter("w2", filled({4, 4, 3, 3}, 0.07f));
  network.add_parameter("scale", filled({4}, 0.5f));
  network.add_parameter("bias", filled({4}, 0.2f));
  network.add_constant("mean", Tensor::zeros(DType::float32, {4}));
  network.add_constant("var", filled({4}, 0.0f));
  network.add_constant("ratio", Tensor::scalar(0.25f));
  network.add_constant("train", Tensor::of<bool>({}, {true}));
  const std::vector<std::int64_t> pads{1, 1, 1, 1};
  network.add_node("Conv", {"x", "w1"}, {"c1"}, {{"pads", pads}}, "stem.conv");
  network.add_node("BatchNormalization", {"c1", "scale", "bias", "mean", "var"},
                   {"n1", "new_mean", "new_var"}, {{"training_mode", std::int64_t{1}}},
                   "stem.norm");
  network.add_node("Relu", {"n1"}, {"r1"}, {}, "stem.relu");
  network.add_node("Dropout", {"r1", "ratio", "train"}, {"d1"}, {}, "stem.dropout");
  network.add_node("Conv", {"d1", "w2"}, {"c2"}, {{"pads", pads}}, "body.conv");
  network.add_node("Tanh", {"c2"}, {"t2"}, {}, "body.tanh");
  network.add_node("Add", {"t2", "d1"}, {"sum"}, {}, "body.add");
  network.add_node("Sigmoid", {"sum"}, {"s"}, {}, "body.sigmoid");
  network.add_node("Mul", {"s", "s"}, {"square"}, {}, "body.square");
  network.add_node("ReduceMean", {"square"}, {"loss"}, {{"keepdims", std::int64_t{0}}}, "mean");
  network.add_output("loss");
  network.add_update("mean", "new_mean");
  network.add_update("var", "new_var");
  return network;
}

std::vector<std::byte> bytes_of(const Tensor& tensor) {
  const auto* begin = static_cast<const std::byte*>(tensor.raw());
  return {begin, begin + tensor.bytes()};
}

/// The loss, all gradients, and all constants, after two runs.
std::map<std::string, std::vector<std::byte>> results_of(GraphExecutor& executor,
                                                         const ValueMap& inputs) {
  std::map<std::string, std::vector<std::byte>> results;
  for (int run = 0; run < 2; ++run) {
    const ValueMap& outputs = executor.inference_and_backprop(inputs, "loss");
    results["loss"] = bytes_of(outputs.at("loss").tensor());
  }
  for (const Parameter& parameter : executor.network().parameters()) {
    results[parameter.name] = bytes_of(parameter.gradient);
  }
  for (const auto& [name, tensor] : executor.network().graph().initializers) {
    if (!executor.network().is_parameter(name)) results["constant " + name] = bytes_of(tensor);
  }
  return results;
}

struct Count final : ExecutionEvent {
  std::size_t again = 0, backward = 0;
  std::vector<std::string> order;
  void before_node(const StepInfo& step) override {
    if (step.pass == Pass::forward) return;
    order.push_back(step.node.name + (step.recomputed ? " again" : ""));
    (step.recomputed ? again : backward) += 1;
    CHECK((!step.recomputed || step.cost.bytes_written > 0));
  }
};

/// Compares a network with the same that recomputes, and gives the number of steps that ran again.
std::size_t check_same(const Make& make, const OpenSizes& sizes,
                       const std::vector<std::string>& recompute, std::size_t limit = 0) {
  const auto stored = make_executor(make(), {.seed = 3});
  const auto again =
      make_executor(make(), {.seed = 3, .memory_limit = limit, .recompute = recompute});
  const auto count = std::make_shared<Count>();
  again->events().add(count);
  const ValueMap inputs = random_inputs(stored->network(), sizes, 5);
  const auto expected = results_of(*stored, inputs);
  CHECK(results_of(*again, inputs) == expected);
  CHECK(planned_memory(*again).steps.size() >= planned_memory(*stored).steps.size());
  return count->again / 2;
}

Network lenet() { return models().at("lenet").make({{"with_loss", true}, {"seed", 1}}); }
Network resnet() {
  return models().at("resnet-20").make({{"with_loss", true}, {"training", true}, {"seed", 1}});
}

}  // namespace

TEST_CASE("gradients are the same to the bit when every layer is computed again") {
  CHECK(check_same(lenet, {.batch = 3}, {"conv1", "conv2", "relu1", "pool1"}) > 0);
  CHECK(check_same([] { return recomputed_chain(8); }, {}, {"block0", "block1"}) > 0);
  CHECK(check_same(mixed, {.batch = 4}, {"stem", "body"}) > 0);
}

TEST_CASE("so are those of a network with shortcuts and updated statistics") {
  std::vector<std::string> all;
  const Network network = resnet();
  for (const auto& node : network.graph().nodes) all.push_back(node.name);
  CHECK(check_same(resnet, {.batch = 2}, all) > 20);
}

TEST_CASE("what draws random numbers is kept, and drawn once") {
  const auto executor = make_executor(mixed(), {.recompute = {"stem", "body"}});
  const auto count = std::make_shared<Count>();
  executor->events().add(count);
  (void)executor->inference_and_backprop(random_inputs(mixed(), {.batch = 2}), "loss");
  CHECK(std::ranges::count(count->order, "stem.dropout again") == 0);
  CHECK(std::ranges::count(count->order, "body.sigmoid again") == 1);
}

TEST_CASE("a layer runs again right before backward first needs it, from what is kept") {
  const auto executor = make_executor(recomputed_chain(8), {.recompute = {"block0"}});
  const auto count = std::make_shared<Count>();
  executor->events().add(count);
  (void)executor->inference_and_backprop(random_inputs(recomputed_chain(8)), "loss");
  const std::string first = "block0.softmax";
  CHECK(count->order == std::vector<std::string>{"sum", "block1.softmax7", "block1.softmax6",
                                                 "block1.softmax5", "block1.softmax4",
                                                 first + "0 again", first + "1 again",
                                                 first + "2 again", first + "3 again", first + "3",
                                                 first + "2", first + "1", first + "0", "first"});
}

TEST_CASE("a chain of n steps needs memory of the root of n, as Chen et al. say") {
  // Sixteen values of 1 KiB, or four that are kept and the four of one block; two gradients.
  const auto bytes_with = [](const std::vector<std::string>& recompute) {
    const auto executor = make_executor(recomputed_chain(17), {.recompute = recompute});
    return plan_memory(*executor, random_inputs(recomputed_chain(17)), "loss").bytes();
  };
  std::vector<std::string> inner;  // all but the last of each block
  for (int i = 0; i < 16; ++i) {
    if (i % 4 != 3) {
      inner.push_back("block" + std::to_string(i / 4) + ".softmax" + std::to_string(i));
    }
  }
  CHECK(bytes_with({}) >= 17 * 1024);
  CHECK(bytes_with(inner) <= (4 + 4 + 2) * 1024 + 128);
}

TEST_CASE("under a memory limit it chooses by itself, and says what it cannot have") {
  const auto stored = make_executor(resnet());
  const ValueMap inputs = random_inputs(stored->network(), {.batch = 2}, 5);
  const std::size_t all = plan_memory(*stored, inputs, "loss").bytes();
  CHECK(check_same(resnet, {.batch = 2}, {"auto"}, all) == 0);
  std::size_t last = 0;
  for (const double part : {0.8, 0.6}) {
    const auto limit = std::size_t(part * double(all));
    const std::size_t again = check_same(resnet, {.batch = 2}, {"auto"}, limit);
    CHECK(again > last);
    last = again;
    const auto executor = make_executor(resnet(), {.memory_limit = limit, .recompute = {"auto"}});
    CHECK(plan_memory(*executor, inputs, "loss").bytes() <= limit);
  }
  const auto least = make_executor(resnet(), {.memory_limit = all / 100, .recompute = {"auto"}});
  CHECK_THROWS_AS(least->plan(inputs, "loss"), MemoryError);
}

TEST_CASE("a batch in flight recomputes as well") {
  const Network network = models().at("lenet").make({{"seed", 1}});
  const ValueMap inputs = random_inputs(network, {.batch = 2});
  const auto gradients = [&](const std::vector<std::string>& recompute) {
    const auto executor = make_executor(network, {.recompute = recompute});
    auto first = executor->forward(inputs, {"logits"});
    auto second = executor->forward(inputs, {"logits"});
    const Tensor slope = first->outputs().at("logits").tensor().copy();
    second->backward({{"logits", slope}});
    first->backward({{"logits", slope}});
    std::map<std::string, std::vector<std::byte>> results;
    for (const Parameter& p : executor->network().parameters()) {
      results[p.name] = bytes_of(p.gradient);
    }
    return results;
  };
  CHECK(gradients({"conv1", "conv2", "relu1", "relu2"}) == gradients({}));
}

TEST_CASE("names that no node has, and 'auto' beside names or without a limit, are refused") {
  const auto plan = [](const ExecutorOptions& options) {
    make_executor(recomputed_chain(8), options)->plan(random_inputs(recomputed_chain(8)), "loss");
  };
  CHECK_THROWS_AS(plan({.recompute = {"blokc0"}}), NotFound);
  CHECK_THROWS_AS(plan({.memory_limit = 9, .recompute = {"auto", "sum"}}), ValueError);
  CHECK_THROWS_WITH(plan({.recompute = {"auto"}}), Contains("memory_limit"));
}
