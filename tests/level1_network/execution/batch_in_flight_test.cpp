// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/execution_event.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"
#include "d5/level1_network/source/model_source.hpp"
#include "d5/level1_network/source/models.hpp"
#include "d5/level1_network/validation/network_validation.hpp"

using namespace d5;

namespace {

Tensor numbers(std::initializer_list<float> values) { return Tensor::vector<float>(values); }

float number(const Tensor& tensor) { return tensor.span<float>()[0]; }

/// y = w x, z = w^2 x: a batch of gradients a, b gives w the slope a x + 2 b w x.
Network two_outputs() {
  Network network("two");
  network.add_input("x", DType::float32, {1});
  network.add_parameter("w", numbers({3}));
  network.add_node("Mul", {"w", "x"}, {"y"});
  network.add_node("Mul", {"w", "y"}, {"z"});
  network.add_output("y");
  network.add_output("z");
  return network;
}

float slope(const GraphExecutor& executor) {
  return number(const_cast<GraphExecutor&>(executor).network().parameter("w").gradient);
}

}  // namespace

TEST_CASE("backward begins at the gradients that it is given") {
  const auto executor = make_executor(two_outputs(), {.gradients = {"x"}});
  const auto batch = executor->forward({{"x", numbers({5})}}, {"y", "z"});
  CHECK(number(batch->outputs().at("z").tensor()) == 45);
  batch->backward({{"y", numbers({10})}, {"z", numbers({100})}});
  CHECK(slope(*executor) == 10 * 5 + 2 * 100 * 3 * 5);
  CHECK(number(batch->gradient("x")) == 10 * 3 + 100 * 9);
}

TEST_CASE("an output that is given none counts as one of zeros") {
  const auto executor = make_executor(two_outputs());
  const auto batch = executor->forward({{"x", numbers({5})}}, {"y", "z"});
  batch->backward({{"y", numbers({1})}});
  CHECK(slope(*executor) == 5);
}

TEST_CASE("several batches are under way at once and end in any order") {
  const auto executor = make_executor(two_outputs());
  const auto first = executor->forward({{"x", numbers({1})}}, {"z"});
  const auto second = executor->forward({{"x", numbers({10})}}, {"z"});
  auto third = executor->forward({{"x", numbers({100})}}, {"z"});
  CHECK(number(first->outputs().at("z").tensor()) == 9);
  second->backward({{"z", numbers({1})}});
  CHECK(slope(*executor) == 60);
  first->backward({{"z", numbers({1})}});
  CHECK(slope(*executor) == 6);
  third.reset();  // never went back
  const auto fourth = executor->forward({{"x", numbers({1000})}}, {"z"});
  fourth->backward({{"z", numbers({1})}});
  CHECK(slope(*executor) == 6000);
  CHECK(number(first->outputs().at("z").tensor()) == 9);
}

TEST_CASE("forward and backward apart give the gradients of both in one") {
  Network network = models().at("lenet").make({{"seed", 2}, {"with_loss", true}});
  const ValueMap inputs = random_inputs(network);
  const auto together = make_executor(network.copy()), apart = make_executor(network.copy());
  (void)together->inference_and_backprop(inputs, "loss");
  const auto batch = apart->forward(inputs, {"loss"});
  batch->backward({{"loss", Tensor::scalar(1.0f)}});
  for (const Parameter& expected : together->network().parameters()) {
    INFO(expected.name);
    const Tensor& got = apart->network().parameter(expected.name).gradient;
    CHECK(compare_values(got, expected.gradient, {0, 0}).equal);
  }
}

TEST_CASE("what elements were dropped going forward is dropped going back") {
  Network network("dropping");
  network.add_input("x", DType::float32, {"N"});
  network.add_parameter("w", numbers({1}));
  network.add_constant("ratio", Tensor::scalar(0.5f));
  network.add_node("Mul", {"x", "w"}, {"m"});
  network.add_node("Dropout", {"m", "ratio"}, {"y"});
  network.add_output("y");
  const auto executor = make_executor(network, {.gradients = {"x"}});
  executor->set_mode(NetworkMode::training);
  const Tensor ones = Tensor::of<float>({64}, std::vector<float>(64, 1));
  const auto first = executor->forward({{"x", ones}}, {"y"});
  const auto second = executor->forward({{"x", ones}}, {"y"});
  CHECK_FALSE(compare_values(first->outputs().at("y"), second->outputs().at("y"), {0, 0}).equal);
  for (const auto* batch : {first.get(), second.get()}) {
    const_cast<BatchInFlight*>(batch)->backward({{"y", ones}});
    CHECK(compare_values(batch->gradient("x"), batch->outputs().at("y"), {0, 0}).equal);
  }
}

TEST_CASE("what does not fit is refused with what would") {
  const auto executor = make_executor(two_outputs());
  const ValueMap x{{"x", numbers({5})}};
  CHECK_THROWS_AS(executor->forward(x, {}), ValueError);
  CHECK_THROWS_WITH(executor->forward(x, {"yy"}), Catch::Contains("did you mean"));
  const auto batch = executor->forward(x, {"y"});
  CHECK_THROWS_AS(batch->gradient("x"), NotFound);
  CHECK_THROWS_AS(batch->backward({{"z", numbers({1})}}), NotFound);
  CHECK_THROWS_AS(batch->backward({{"y", numbers({1, 2})}}), ShapeError);
  CHECK_THROWS_AS(batch->backward({{"y", Tensor::vector<double>({1})}}), TypeError);
  batch->backward({{"y", numbers({1})}});
  CHECK_THROWS_AS(batch->backward({{"y", numbers({1})}}), ValueError);
}
