// SPDX-License-Identifier: Apache-2.0
// Whole networks as frozen TorchScript graphs, against the reference.
#include <catch2/catch.hpp>
#include <cmath>

#include "d5/core/error.hpp"
#include "d5/core/framework.hpp"
#include "d5/level1_network/level1_network.hpp"

using namespace d5;
using Catch::Contains;

namespace {

std::shared_ptr<GraphExecutor> scripted(Network network, const ExecutorOptions& options = {}) {
  return open_executor("torch:script", std::move(network), options);
}

Network model(const std::string& name) { return models().at(name).make({{"seed", 3}}); }

void check(const std::vector<Measurement>& records) {
  REQUIRE_FALSE(records.empty());
  for (const auto& record : records) {
    INFO(record.subject << ": " << record.reason);
    CHECK(record.status == Status::passed);
  }
}

Network one_node(const std::string& op, DType type, const Shape& shape) {
  Network network(op);
  network.add_input("x", type, {shape.begin(), shape.end()});
  network.add_node(op, {"x"}, {"y"});
  network.add_output("y");
  return network;
}

class RunCount final : public ExecutionEvent {
 public:
  void after_run(Pass) override { ++runs; }
  void after_node(const StepInfo&) override { ++nodes; }
  int runs = 0, nodes = 0;
};

}  // namespace

TEST_CASE("a frozen graph gives the reference's outputs, for each size of batch") {
  for (const char* name : {"lenet", "resnet-20"}) {
    INFO(name);
    const auto subject = scripted(model(name));
    const auto reference = make_executor(model(name));
    for (const std::int64_t batch : {2, 3, 2}) {
      const ValueMap inputs = random_inputs(subject->network(), {.batch = batch}, 5);
      check(test_executor(*subject, *reference, inputs));
    }
  }
}

TEST_CASE("a frozen graph answers by its inputs, not by those that it was made with") {
  const auto subject = scripted(model("lenet"));
  const auto reference = make_executor(model("lenet"));
  for (const std::uint64_t seed : {1, 2}) {
    check(
        test_executor(*subject, *reference, random_inputs(subject->network(), {.batch = 2}, seed)));
  }
}

TEST_CASE("a frozen graph is made anew when parameters change") {
  const auto subject = scripted(model("lenet"));
  const ValueMap inputs = random_inputs(subject->network(), {.batch = 1}, 5);
  const auto sum = [&] {
    float result = 0;
    for (const auto& [name, value] : subject->inference(inputs)) {
      for (const float one : value.tensor().span<float>()) result += std::abs(one);
    }
    return result;
  };
  CHECK(sum() != 0);
  for (float& value : subject->network().parameter_arena().span<float>()) value = 0;
  CHECK(sum() == 0);
}

TEST_CASE("what a recorded run cannot hold is refused") {
  const ValueMap x{{"x", Tensor::zeros(DType::float32, {2, 3})}};
  CHECK_THROWS_WITH(scripted(one_node("NonZero", DType::float32, {2, 3}))->inference(x),
                    Contains("data decide"));
  Network clip("clip");  // torch's limits are numbers
  clip.add_input("x", DType::float32, {4});
  clip.add_input("low", DType::float32, {});
  clip.add_node("Clip", {"x", "low"}, {"y"});
  clip.add_output("y");
  CHECK_THROWS_WITH(scripted(clip)->inference({{"x", Tensor::zeros(DType::float32, {4})},
                                               {"low", Tensor::zeros(DType::float32, {})}}),
                    Contains("reads numbers"));
  CHECK_THROWS_AS(scripted(model("lenet"))->inference_and_backprop({}, "loss"), Unsupported);
  CHECK_THROWS_AS(scripted(model("lenet"), {.gradients = {"image"}}), Unsupported);
  CHECK_THROWS_AS(scripted(model("lenet"))->inference({}), NotFound);
}

TEST_CASE("observers of a frozen graph hear of its runs, of no nodes") {
  const auto subject = scripted(model("lenet"));
  const auto count = std::make_shared<RunCount>();
  subject->events().add(count);
  (void)subject->inference(random_inputs(subject->network(), {}, 5));
  CHECK(count->runs == 1);
  CHECK(count->nodes == 0);
}
