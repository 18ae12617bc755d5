// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/optimization/optimizer.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/level2_training/scripted_executor.hpp"

using namespace d5;

namespace {

/// One parameter w of two elements, {1, -2}, and a gradient for every step.
std::shared_ptr<Optimizer> optimizer(const std::string& name,
                                     std::map<std::string, std::string, std::less<>> settings,
                                     std::vector<std::array<double, 2>> gradients) {
  auto executor = std::make_unique<test::ScriptedExecutor>(
      std::vector<std::pair<std::string, Tensor>>{{"w", Tensor::of<double>({2}, {1, -2})}},
      [gradients](Network& network, std::int64_t step) {
        const auto& gradient = gradients[std::size_t(step) % gradients.size()];
        std::copy(gradient.begin(), gradient.end(), network.parameter("w").gradient.data<double>());
        return 0.5;
      });
  return optimizers().at(name).make(std::move(executor), "loss", Settings(name, settings));
}

std::array<double, 2> after(Optimizer& optimizer, int steps) {
  for (int i = 0; i < steps; ++i) optimizer.step({});
  const auto w = optimizer.executor().network().parameter("w").value.span<double>();
  return {w[0], w[1]};
}

void check(std::array<double, 2> given, double first, double second) {
  // A few roundings of float64 a step.
  CHECK(given[0] == Approx(first).epsilon(1e-14));
  CHECK(given[1] == Approx(second).epsilon(1e-14));
}

}  // namespace

TEST_CASE("sgd goes down the gradient, and weight decay shrinks") {
  check(after(*optimizer("sgd", {{"learning_rate", "0.1"}}, {{0.5, -1}}), 1), 0.95, -1.9);
  check(after(*optimizer("sgd", {{"learning_rate", "0.1"}}, {{0.5, -1}, {2, 0}}), 2), 0.75, -1.9);
  // w - 0.1 * (g + 0.2 w)
  check(
      after(*optimizer("sgd", {{"learning_rate", "0.1"}, {"weight_decay", "0.2"}}, {{0.5, -1}}), 1),
      0.93, -1.86);
}

TEST_CASE("momentum under a constant gradient follows the geometric series") {
  const double rate = 0.1, mu = 0.9;
  for (const int steps : {1, 2, 10, 100}) {
    // v_k = g (1 - mu^k) / (1 - mu); the sum over k = 1 .. n
    const double sum = (steps - mu * (1 - std::pow(mu, steps)) / (1 - mu)) / (1 - mu);
    const auto given =
        after(*optimizer("momentum", {{"learning_rate", "0.1"}, {"momentum", "0.9"}}, {{0.5, -1}}),
              steps);
    CHECK(given[0] == Approx(1 - rate * 0.5 * sum).epsilon(1e-12));
    CHECK(given[1] == Approx(-2 + rate * sum).epsilon(1e-12));
  }
}

TEST_CASE("Nesterov's momentum looks one step ahead") {
  const std::map<std::string, std::string, std::less<>> settings{
      {"learning_rate", "0.1"}, {"momentum", "0.5"}, {"nesterov", "true"}};
  // v1 = 1, w -= 0.1 (1 + 0.5 * 1);  v2 = 0.5 + 3 = 3.5, w -= 0.1 (3 + 0.5 * 3.5)
  check(after(*optimizer("momentum", settings, {{1, 0}, {3, 0}}), 1), 0.85, -2);
  check(after(*optimizer("momentum", settings, {{1, 0}, {3, 0}}), 2), 0.375, -2);
}

TEST_CASE("momentum with weight decay adds the decay to the gradient, not to the step") {
  // slope = 1 + 0.1 * 1 = 1.1, v = 1.1, w = 0.89;  slope = 1.089, v = 1.639, w = 0.7261
  const auto given =
      after(*optimizer("momentum",
                       {{"learning_rate", "0.1"}, {"momentum", "0.5"}, {"weight_decay", "0.1"}},
                       {{1, 0}}),
            2);
  CHECK(given[0] == Approx(0.7261).epsilon(1e-14));
}

TEST_CASE("adam under a constant gradient moves by the learning rate, whatever the gradient") {
  // The corrected moments are g and g^2 at every step, so each step is rate * g / (|g| + epsilon).
  for (const int steps : {1, 2, 50}) {
    const auto given = after(
        *optimizer("adam", {{"learning_rate", "0.01"}, {"epsilon", "0.1"}}, {{0.5, -1e-3}}), steps);
    CHECK(given[0] == Approx(1 - steps * 0.01 * 0.5 / 0.6).epsilon(1e-12));
    CHECK(given[1] == Approx(-2 + steps * 0.01 * 1e-3 / 0.101).epsilon(1e-12));
  }
}

TEST_CASE("adam uses beta1 for the first and beta2 for the second moment") {
  // Gradients 1, then 0. m1 = 0.2, m2 = 0.16; v1 = 0.4, v2 = 0.24.
  const auto given =
      after(*optimizer(
                "adam",
                {{"learning_rate", "0.5"}, {"beta1", "0.8"}, {"beta2", "0.6"}, {"epsilon", "0.25"}},
                {{1, 0}, {0, 0}}),
            2);
  const double first = 0.5 * 1 / (1 + 0.25);
  const double second = 0.5 * (0.16 / (1 - 0.64)) / (std::sqrt(0.24 / (1 - 0.36)) + 0.25);
  check(given, 1 - first - second, -2);
}

TEST_CASE("a restored optimizer continues to the bit") {
  for (const std::string name : {"sgd", "momentum", "adam"}) {
    CAPTURE(name);
    const std::vector<std::array<double, 2>> gradients{{0.5, -1}, {0.1, 3}, {-2, 0.7}};
    const auto whole = optimizer(name, {}, gradients);
    const auto expected = after(*whole, 6);

    const auto first = optimizer(name, {}, gradients);
    after(*first, 3);
    ValueMap saved;
    for (const auto& [key, value] : first->state()) saved[key] = value.tensor().copy();
    const auto second = optimizer(name, {}, gradients);
    second->restore(saved);
    second->executor().network().parameter("w").value.copy_from(
        first->executor().network().parameter("w").value);
    CHECK(after(*second, 3) == expected);
  }
}

TEST_CASE("a state of another optimizer or network is refused by name") {
  const auto adam = optimizer("adam", {}, {{1, 1}});
  const auto momentum = optimizer("momentum", {}, {{1, 1}});
  CHECK_THROWS_AS(adam->restore(momentum->state()), NotFound);
  ValueMap state = momentum->state();
  state["velocity/w"] = Tensor::of<double>({3}, {0, 0, 0});
  CHECK_THROWS_AS(momentum->restore(state), ShapeError);
}

TEST_CASE("options out of range and misspelt ones are refused") {
  CHECK_THROWS_AS(optimizer("sgd", {{"learning_rate", "-1"}}, {{1, 1}}), ValueError);
  CHECK_THROWS_AS(optimizer("sgd", {{"learning_rate", "nan"}}, {{1, 1}}), ValueError);
  CHECK_THROWS_AS(optimizer("adam", {{"beta2", "1"}}, {{1, 1}}), ValueError);
  CHECK_THROWS_AS(optimizer("momentum", {{"momentum", "-0.1"}}, {{1, 1}}), ValueError);
  CHECK_THROWS_WITH(optimizer("adam", {{"beta_1", "0.9"}}, {{1, 1}}), Catch::Contains("beta1"));
  CHECK_THROWS_WITH(optimizers().at("adams"), Catch::Contains("adam"));
}

TEST_CASE("an optimizer refuses a loss that the network does not put out") {
  auto executor = std::make_unique<test::ScriptedExecutor>(
      std::vector<std::pair<std::string, Tensor>>{{"w", Tensor::of<double>({1}, {1})}},
      [](Network&, std::int64_t) { return 0.0; });
  CHECK_THROWS_WITH(optimizers().at("sgd").make(std::move(executor), "los", Settings("sgd")),
                    Catch::Contains("loss"));
}
