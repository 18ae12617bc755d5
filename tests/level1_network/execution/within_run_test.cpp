// SPDX-License-Identifier: Apache-2.0
// Executors that are asked for a run within their own.
#include <catch2/catch.hpp>

#include <functional>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/execution_event.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"

using namespace d5;

namespace {

Network doubling() {
  Network network("doubling");
  network.add_input("x", DType::float32, {1});
  network.add_parameter("two", Tensor::vector<float>({2}));
  network.add_node("Mul", {"x", "two"}, {"y"});
  network.add_output("y");
  return network;
}

class Asks final : public ExecutionEvent {
 public:
  explicit Asks(std::function<void()> what) : what_(std::move(what)) {}
  void before_node(const StepInfo&) override { what_(); }

 private:
  std::function<void()> what_;
};

}  // namespace

TEST_CASE("an executor that its own observer asks for a run refuses, and runs again afterwards") {
  const auto executor = make_executor(doubling());
  const ValueMap three{{"x", Tensor::vector<float>({3})}};
  const std::function<void()> asked = GENERATE_REF(values<std::function<void()>>({
      [&] { (void)executor->inference(three); },
      [&] { (void)executor->inference_and_backprop(three, "y"); },
      [&] { executor->plan(three, ""); },
      [&] { executor->set_mode(NetworkMode::training); },
  }));
  const auto observer = std::make_shared<Asks>(asked);
  executor->events().add(observer);
  CHECK_THROWS_AS(executor->inference(three), ValueError);
  executor->events().remove(observer.get());
  CHECK(executor->inference(three).at("y").tensor().span<float>()[0] == 6);
}

TEST_CASE("an observer may ask another executor of the network") {
  const Network network = doubling();
  const auto executor = make_executor(network), other = make_executor(network);
  const ValueMap three{{"x", Tensor::vector<float>({3})}};
  executor->events().add(std::make_shared<Asks>([&] { (void)other->inference(three); }));
  CHECK(executor->inference(three).at("y").tensor().span<float>()[0] == 6);
}
