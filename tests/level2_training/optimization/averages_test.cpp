// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/optimization/step_modifier.hpp"
#include "tests/level2_training/points.hpp"
#include "tests/level2_training/scripted_executor.hpp"

using namespace d5;

namespace {

/// A parameter w that is 0, 1, 2, ... after as many steps.
std::shared_ptr<Optimizer> counting(const Settings& modifier) {
  Settings settings{{"learning_rate", 1}};
  for (const auto& [name, value] : modifier.values()) settings.set("modifiers.0." + name, value);
  return open_optimizer(
      "sgd",
      std::make_unique<test::ScriptedExecutor>(
          std::vector<std::pair<std::string, Tensor>>{{"w", Tensor::of<double>({1}, {0})}},
          [](Network& network, std::int64_t) {
            network.parameter("w").gradient.data<double>()[0] = -1;
            return 1.0;
          }),
      "loss", settings);
}

double w(Optimizer& optimizer) {
  return optimizer.executor().network().parameter("w").value.item<double>();
}

/// The value that tests see after that many more steps; afterwards training has its own again.
double lent(Optimizer& optimizer, int steps) {
  for (int step = 0; step < steps; ++step) optimizer.step({});
  const double before = w(optimizer);
  double seen = 0;
  {
    const TestParameters here(optimizer);
    seen = w(optimizer);
  }
  CHECK(w(optimizer) == before);
  return seen;
}

}  // namespace

TEST_CASE("ema: tests see an exponential average, from the first value on") {
  const auto optimizer = counting({{"name", "ema"}, {"decay", 0.75}});
  CHECK(lent(*optimizer, 0) == 0);
  CHECK(lent(*optimizer, 1) == 1);
  CHECK(lent(*optimizer, 1) == 1 + 0.25 * (2 - 1));
  CHECK(lent(*optimizer, 1) == 1.25 + 0.25 * (3 - 1.25));
  CHECK(w(*optimizer) == 3);
}

TEST_CASE("ema of every second step") {
  const auto optimizer = counting({{"name", "ema"}, {"decay", 0.5}, {"every", 2}});
  CHECK(lent(*optimizer, 1) == 1);  // there is no value yet
  CHECK(lent(*optimizer, 1) == 2);
  CHECK(lent(*optimizer, 1) == 2);
  CHECK(lent(*optimizer, 1) == 3);
}

TEST_CASE("swa: tests see the mean of late steps") {
  const auto optimizer = counting({{"name", "swa"}, {"begin", 2}, {"every", 3}});
  CHECK(lent(*optimizer, 4) == 4);
  CHECK(lent(*optimizer, 1) == 5);
  CHECK(lent(*optimizer, 3) == Approx(6.5).epsilon(1e-15));
  CHECK(lent(*optimizer, 3) == Approx((5 + 8 + 11) / 3.0).epsilon(1e-15));
}

TEST_CASE("lookahead: slow weights follow every few steps") {
  const auto optimizer = counting({{"name", "lookahead"}, {"every", 2}, {"share", 0.25}});
  const double expected[] = {1, 0.5, 1.5, 0.5 + 0.25 * 2, 2, 1.5};
  for (const double value : expected) {
    optimizer->step({});
    CHECK(w(*optimizer) == value);
  }
}

TEST_CASE("averages take turns in lending, and training never sees it") {
  const Settings both{{"modifiers", "ema,swa"}};
  const auto with = open_optimizer("momentum", make_executor(test::points_network()), "loss", both);
  const auto without = test::points_optimizer("momentum");
  const auto sampler = samplers().at("ordered").make(test::points(30), {{"batch_size", 10}});
  while (const Batch* batch = sampler->next()) {
    with->step(*batch);
    without->step(*batch);
    const auto trained = test::parameters(*with);
    const TestParameters lent(*with);
    if (batch->index > 0) CHECK(test::parameters(*with) != trained);
  }
  CHECK(test::parameters(*with) == test::parameters(*without));
}

TEST_CASE("a modifier takes part once") {
  CHECK_THROWS_WITH(open_optimizer("sgd", make_executor(test::points_network()), "loss",
                                   {{"modifiers", "ema,ema"}}),
                    Catch::Contains("ema"));
}
