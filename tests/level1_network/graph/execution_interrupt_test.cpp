// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/graph/execution_interrupt.hpp"

#include <catch2/catch.hpp>
#include <stop_token>

#include "d5/level1_network/graph/graph_executor.hpp"

using namespace d5;

namespace {

/// Counts the steps, and asks for a stop after the first.
struct StopAfterOne final : ExecutionEvent {
  std::stop_source stop;
  int steps = 0;
  void after_node(const StepInfo&) override {
    ++steps;
    stop.request_stop();
  }
};

/// loss = relu(relu(w x))
Network chain() {
  Network network("chain");
  network.add_input("x", DType::float32, {1});
  network.add_parameter("w", Tensor::of<float>({1}, {3}));
  network.add_node("Mul", {"w", "x"}, {"u"});
  network.add_node("Relu", {"u"}, {"v"});
  network.add_node("Relu", {"v"}, {"loss"});
  network.add_output("loss");
  return network;
}

}  // namespace

TEST_CASE("an interrupt ends a run after the step that is at work, and the next run is whole") {
  const auto executor = make_executor(chain());
  const auto counter = std::make_shared<StopAfterOne>();
  const auto interrupt =
      std::make_shared<ExecutionInterrupt>(Interrupt{.token = counter->stop.get_token()});
  executor->events().add(counter);
  executor->events().add(interrupt);
  const ValueMap inputs{{"x", Tensor::of<float>({1}, {2})}};
  CHECK_THROWS_AS(executor->inference_and_backprop(inputs, "loss"), Interrupted);
  CHECK(counter->steps == 1);
  executor->events().remove(interrupt.get());
  (void)executor->inference_and_backprop(inputs, "loss");
  CHECK(counter->steps == 7);
  CHECK(executor->network().parameter("w").gradient.item<float>() == 2);
}

TEST_CASE("a deadline ends a run, and nothing ends it without one") {
  const auto executor = make_executor(chain());
  const ValueMap inputs{{"x", Tensor::of<float>({1}, {2})}};
  const auto never = std::make_shared<ExecutionInterrupt>(Interrupt{});
  executor->events().add(never);
  CHECK(executor->inference(inputs).at("loss").tensor().item<float>() == 6);
  executor->events().add(std::make_shared<ExecutionInterrupt>(Interrupt{.deadline = 0}));
  CHECK_THROWS_WITH(executor->inference(inputs), Catch::Contains("deadline"));
}
