// SPDX-License-Identifier: Apache-2.0
// A training that changes no parameter is an error.
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/training/frozen_parameters.hpp"
#include "d5/level2_training/training/trainer.hpp"
#include "level2_training/training/changed_parameters.hpp"
#include "tests/level2_training/points.hpp"
#include "tests/level2_training/tiny_recipe.hpp"

using namespace d5;
using Catch::Contains;

namespace {

/// Three epochs of three batches.
std::int64_t train_points(const Network& network,
                          const Settings& settings = {{"learning_rate", 0.1}},
                          TrainerOptions options = {.epochs = 3}) {
  const auto optimizer = optimizers().at("sgd").make(make_executor(network), "loss", settings);
  const auto sampler = test::points_sampler(30, 10);
  Trainer trainer(*optimizer, *sampler, nullptr, std::move(options));
  const detail::ChangedParameters changed(optimizer->executor().network());
  trainer.run();
  changed.expect_any(*optimizer, trainer.step());  // as sessions do
  return trainer.step();
}

/// A loss of the points that its parameter takes no part in.
Network detached() {
  Network network("detached");
  network.add_input("x", DType::float32, {"N", std::int64_t{2}});
  network.add_input("label", DType::int64, {"N"});
  network.add_constant("w", Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6}));
  network.add_parameter("bias", Tensor::of<float>({3}, {1, 2, 3}));
  network.add_node("MatMul", {"x", "w"}, {"logits"});
  network.add_node("ArgMax", {"bias"}, {"place"});
  network.add_node("SoftmaxCrossEntropyLoss", {"logits", "label"}, {"loss"});
  for (const char* output : {"logits", "place", "loss"}) network.add_output(output);
  return network;
}

}  // namespace

TEST_CASE("a network without parameters is not trained") {
  Network network = test::points_network();
  Splice change;
  for (const char* name : {"w1", "b1", "w2", "b2"}) {
    change.remove.emplace_back(name);
    change.constants[name] = network.fetch(name);
  }
  network.splice(change);
  CHECK_THROWS_AS(train_points(network), ValueError);
  CHECK_THROWS_WITH(train_points(network), Contains("no parameters") && Contains("'points'"));
}

TEST_CASE("steps that change no parameter fail, and say why") {
  CHECK(train_points(test::points_network()) == 9);
  CHECK_THROWS_AS(train_points(test::points_network(), {{"learning_rate", 0.0}}), NumericError);
  CHECK_THROWS_WITH(
      train_points(test::points_network(), {{"learning_rate", 0.0}}),
      Contains("9 steps changed none of the 4 parameters") && Contains("learning rate is 0"));
  CHECK_THROWS_WITH(train_points(detached()), Contains("gradients are 0"));
  // In float32 a weight of 1 is the same after a step of 1e-12.
  CHECK_THROWS_WITH(train_points(test::points_network(), {{"learning_rate", 1e-30}}),
                    Contains("too small"));
  CHECK(train_points(test::points_network(), {{"learning_rate", 0.0}}, {.epochs = 0}) == 0);
}

TEST_CASE("a session whose steps change nothing has failed records") {
  Recipe recipe = test::tiny_recipe();
  recipe.set("optimizer.learning_rate=0");
  const auto results = TrainingSession(recipe).run();
  for (const Measurement& result : results) {
    CHECK(result.status == Status::failed);
    CHECK_THAT(result.reason, Contains("learning rate is 0"));
  }
}
