// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/optimization/step_modifier.hpp"
#include "tests/level2_training/points.hpp"

using namespace d5;

namespace {

std::shared_ptr<Optimizer> points(const Settings& settings) {
  return open_optimizer("momentum", make_executor(test::points_network()), "loss", settings);
}

/// The largest difference of a parameter after an epoch in batches of 10, the last one of 4.
double difference(Optimizer& one, Optimizer& other) {
  const auto sampler = samplers().at("ordered").make(test::points(34), {{"batch_size", 10}});
  while (const Batch* batch = sampler->next()) {
    const ValueMap& expected = other.step(*batch);
    const ValueMap& given = one.step(*batch);
    CHECK(given.at("loss").tensor().item<float>() ==
          Approx(expected.at("loss").tensor().item<float>()).epsilon(1e-6));
    const Tensor &a = given.at("logits").tensor(), &b = expected.at("logits").tensor();
    REQUIRE(a.shape() == b.shape());
    for (std::int64_t i = 0; i < a.elements(); ++i) {
      CHECK(a.data<float>()[i] == Approx(b.data<float>()[i]).margin(1e-5));
    }
  }
  const auto a = test::parameters(one), b = test::parameters(other);
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    largest = std::max(largest, std::abs(double(a[i] - b[i])));
  return largest;
}

}  // namespace

TEST_CASE("a batch in pieces is the whole batch: parameters, loss and outputs") {
  for (const int pieces : {1, 2, 3, 10, 64}) {
    CAPTURE(pieces);
    // Sums in another order: some roundings of 2^-24 a step.
    CHECK(difference(*points({{"modifiers.0.name", "accumulate"}, {"modifiers.0.pieces", pieces}}),
                     *points({})) < 2e-6);
  }
}

TEST_CASE("pieces work inside of sharpness-aware gradients") {
  const auto both = points({{"modifiers", "accumulate,sam"}}),
             alone = points({{"modifiers", "sam"}});
  CHECK(difference(*both, *alone) < 2e-6);
  const auto plain = points({});
  const auto sampler = samplers().at("ordered").make(test::points(30), {{"batch_size", 30}});
  const Batch& batch = *sampler->next();
  plain->step(batch);
  alone->step(batch);
  CHECK(test::parameters(*alone) != test::parameters(*plain));
}

TEST_CASE("the loss of a batch in pieces is that of the whole, forward alone too") {
  const auto pieces = std::dynamic_pointer_cast<ThreeStepOptimizer>(
      points({{"modifiers.0.name", "accumulate"}, {"modifiers.0.pieces", 4}}));
  const auto whole = std::dynamic_pointer_cast<ThreeStepOptimizer>(points({}));
  const auto sampler = samplers().at("ordered").make(test::points(10), {{"batch_size", 10}});
  const Batch& batch = *sampler->next();
  CHECK(pieces->gradients().loss_of(batch) ==
        Approx(whole->gradients().loss_of(batch)).epsilon(1e-6));
}

TEST_CASE("what cannot be cut or joined is refused by name") {
  const auto optimizer = points({{"modifiers", "accumulate"}});
  CHECK_THROWS_AS(optimizer->step({}), ValueError);
  const auto sampler = samplers().at("ordered").make(test::points(10), {{"batch_size", 10}});
  const Batch& batch = *sampler->next();
  Batch wrong = batch;
  wrong.size = 5;
  CHECK_THROWS_WITH(optimizer->step(wrong), Catch::Contains("field 'label'"));
  Network network = test::points_network();
  network.add_node("Transpose", {"logits"}, {"turned"});
  network.add_output("turned");
  const auto turned = open_optimizer("sgd", make_executor(std::move(network)), "loss",
                                     {{"modifiers", "accumulate"}});
  CHECK_THROWS_WITH(turned->step(batch), Catch::Contains("output 'turned'"));
}

TEST_CASE("estimated gradients approach the gradient") {
  // In a quadratic bowl the estimate has no bias: its mean over many pairs is the gradient.
  Network network("bowl");
  network.add_parameter("w", Tensor::of<double>({3}, {1, -2, 0.5}));
  network.add_node("Mul", {"w", "w"}, {"square"});
  network.add_node("ReduceSum", {"square"}, {"loss"}, {{"keepdims", std::int64_t{0}}});
  network.add_output("loss");
  const std::int64_t pairs = 20000;
  const auto optimizer = open_optimizer(
      "sgd", make_executor(std::move(network)), "loss",
      {{"learning_rate", 1}, {"modifiers.0.name", "evolution"}, {"modifiers.0.pairs", pairs}});
  const auto& outputs = optimizer->step({});
  CHECK(outputs.at("loss").tensor().item<double>() == 5.25);  // at w itself
  const auto w = optimizer->executor().network().parameter("w").value.span<double>();
  // A pair's estimate is (g . e) e, of variance below 2 |g|^2 = 42; the step is the gradient 2 w.
  const double bound = 5 * std::sqrt(42.0 / double(pairs));
  CHECK(w[0] == Approx(1 - 2).margin(bound));
  CHECK(w[1] == Approx(-2 + 4).margin(bound));
  CHECK(w[2] == Approx(0.5 - 1).margin(bound));
}

TEST_CASE("estimated gradients train, without a run backwards") {
  const auto optimizer = points(
      {{"learning_rate", 0.2}, {"modifiers.0.name", "evolution"}, {"modifiers.0.pairs", 64}});
  const auto sampler = samplers().at("ordered").make(test::points(60), {{"batch_size", 60}});
  const Batch& batch = *sampler->next();
  const auto loss = [&] {
    return double(optimizer->step(batch).at("loss").tensor().item<float>());
  };
  const double before = loss();
  for (int step = 0; step < 40; ++step) loss();
  CHECK(loss() < 0.5 * before);
}
