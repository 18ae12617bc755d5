// SPDX-License-Identifier: Apache-2.0
// "auto" and the network whose normalizations and activations have become part of convolutions.
#include "level1_network/auto/fused_executor.hpp"

#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/execution_interrupt.hpp"
#include "d5/level1_network/plan/planned_steps.hpp"
#include "level1_network/auto/auto_executor.hpp"
#include "tests/level1_network/timed_frameworks.hpp"

using namespace d5;
using timed::world;

namespace {

/// y = max(0, scale (w x - mean) + shift), three nodes or one.
Network normalized(std::int64_t training_mode = 0) {
  Network network("normalized");
  network.add_input("x", DType::float32, {"N", 1, 1, 1});
  network.add_parameter("w", Tensor::of<float>({1, 1, 1, 1}, {2}));
  network.add_parameter("scale", Tensor::of<float>({1}, {3}));
  network.add_parameter("shift", Tensor::of<float>({1}, {1}));
  network.add_constant("mean", Tensor::of<float>({1}, {0.5}));
  network.add_constant("variance", Tensor::of<float>({1}, {1}));
  std::vector<std::string> outputs{"n"};
  if (training_mode == 1) outputs = {"n", "new_mean", "new_variance"};
  network.add_node("Conv", {"x", "w"}, {"c"});
  network.add_node("BatchNormalization", {"c", "scale", "shift", "mean", "variance"}, outputs,
                   {{"epsilon", 0.0F}, {"training_mode", training_mode}});
  network.add_node("Relu", {"n"}, {"y"});
  network.add_output("y");
  if (training_mode == 1) network.add_update("mean", "new_mean");
  return network;
}

/// A step takes a second, but one that nobody observes a moment.
double ticking() { return world.now += 1e-3; }

std::unique_ptr<AutoExecutor> fused_executor_of(const Network& network) {
  timed::use_frameworks();
  world.costs["whole"]["run"] = 100;
  auto executor = std::make_unique<AutoExecutor>(
      network, ExecutorOptions{.frameworks = {"auto"}},
      SelectionOptions{.clock = {ticking, [] {}}, .watch_others = timed::watch_others});
  executor->events().add(std::make_shared<ExecutionInterrupt>(Interrupt{.wished = [] {
    world.now += 1;
    return false;
  }}));
  return executor;
}

float run(GraphExecutor& executor, float x = 1) {
  return executor.inference({{"x", Tensor::of<float>({1, 1, 1, 1}, {x})}})
      .at("y")
      .tensor()
      .item<float>();
}

}  // namespace

TEST_CASE("inference of the fused network is chosen where it is faster, and kept") {
  const timed::Fresh fresh;
  const Network network = normalized();
  const auto executor = fused_executor_of(network);
  CHECK(run(*executor) == 5.5F);
  CHECK(run(*executor, -1) == 0);
  const FrameworkSelection selection = framework_selection(*executor);
  CHECK(selection.chosen == "fused");
  CHECK(selection.ways.front().name == "fused");
  REQUIRE(selection.ways.size() >= 2);
  CHECK(selection.ways.back().ratio.ratio_interval.low > 1);
  REQUIRE(selection.nodes.size() == 1);
  CHECK(selection.nodes.front().op_type == "FusedConv");
  CHECK(planned_steps(*executor).front().node.op_type == "FusedConv");
  CHECK(executor->network().graph().nodes.size() == 3);

  const auto second = fused_executor_of(network);
  CHECK(run(*second) == 5.5F);
  CHECK(framework_selection(*second).kept);
  CHECK(framework_selection(*second).chosen == "fused");
  CHECK(forget_selections(network) >= 2);
  const auto third = fused_executor_of(network);
  (void)run(*third);
  CHECK_FALSE(framework_selection(*third).kept);
}

TEST_CASE("what is fed to the network afterwards counts in the fused one") {
  const timed::Fresh fresh;
  Network network = normalized();
  const auto executor = fused_executor_of(network);
  REQUIRE(run(*executor) == 5.5F);
  REQUIRE(framework_selection(*executor).chosen == "fused");
  network.feed("w", Tensor::of<float>({1, 1, 1, 1}, {4}));
  CHECK(run(*executor) == 11.5F);
  network.parameter("shift").value.data<float>()[0] = 2;
  CHECK(run(*executor) == 12.5F);
  network.feed("mean", Tensor::of<float>({1}, {1.5}));  // an edit, for it is a constant
  CHECK(run(*executor) == 9.5F);
  const Tensor weight = network.parameter("w").value;
  CHECK(run(*executor) == 9.5F);
  const_cast<Tensor&>(weight).data<float>()[0] = 5;
  network.values_changed();
  CHECK(run(*executor) == 12.5F);
  CHECK(framework_selection(*executor).chosen == "fused");
}

TEST_CASE("a fused executor follows edits and modes, and goes forward alone") {
  Network network = normalized(1);
  FusedExecutor executor(network, {}, {});
  CHECK_THROWS_AS(run(executor), Unsupported);  // runs overwrite the mean
  executor.set_mode(NetworkMode::inference);
  CHECK(run(executor) == 5.5F);
  CHECK(network.fetch("mean").item<float>() == 0.5F);
  CHECK_THROWS_AS(executor.inference_and_backprop({}, "y"), Unsupported);
  network.rename("y", "z");
  network.add_node("Neg", {"z"}, {"y"});
  network.add_output("y");
  CHECK(run(executor) == -5.5F);
  CHECK(executor.state().at("runs").tensor().item<std::int64_t>() == 2);
  executor.set_mode(NetworkMode::training);
  CHECK_THROWS_AS(run(executor), Unsupported);
}

TEST_CASE("there is no fused network if transforms change nothing") {
  Network network("alone");
  network.add_input("x", DType::float32, {2});
  network.add_node("Relu", {"x"}, {"y"});
  network.add_output("y");
  CHECK_FALSE(fused_network(network, NetworkMode::as_written));
  CHECK_FALSE(fused_network(normalized(1), NetworkMode::as_written));
  CHECK(fused_network(normalized(1), NetworkMode::inference));
  CHECK(fused_network(normalized(), NetworkMode::as_written)->graph().nodes.size() == 1);
}
