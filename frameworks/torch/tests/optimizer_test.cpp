// SPDX-License-Identifier: Apache-2.0
// Compares d5's optimizers with torch's, step by step on the same gradients.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/level2_training/optimization/optimizer.hpp"
#include "tests/level2_training/noisy_descent.hpp"

using namespace d5;

namespace {

constexpr int kSteps = 1000;

/// The largest difference in any step, relative to parameters of about 1.
template <class T>
double largest_difference(const std::string& name, const Settings& settings) {
  set_threads(1);  // so few elements do not pay for more threads
  const auto ours = optimizers().at(name).make(test::noisy_descent<T>(), "loss", settings);
  const auto theirs = framework("torch").part<NativeOptimizers>().at(name).make(
      test::noisy_descent<T>(), "loss", settings);
  double largest = 0;
  for (int step = 0; step < kSteps; ++step) {
    ours->step({});
    theirs->step({});
    for (const char* parameter : {"a", "b"}) {
      const auto x = ours->executor().network().parameter(parameter).value.template span<T>();
      const auto y = theirs->executor().network().parameter(parameter).value.template span<T>();
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double difference = std::abs(double(x[i]) - double(y[i]));
        // std::max() would lose a NaN.
        if (!(difference <= largest)) largest = difference;
      }
    }
  }
  return largest;
}

Settings settings(const std::string& name,
                  std::map<std::string, std::string, std::less<>> values = {}) {
  return Settings("optimizer " + name, std::move(values));
}

}  // namespace

TEMPLATE_TEST_CASE("d5's optimizers take torch's steps, a thousand of them", "", float, double) {
  // Both round each step once or twice, in different order. The slope reduces differences, so that
  // they stay at some ulps of the parameters; Adam divides by a root, which doubles them.
  const double tolerance = std::is_same_v<TestType, float> ? 1e-5 : 1e-13;
  const auto difference = [](const std::string& name, const Settings& options) {
    return largest_difference<TestType>(name, options);
  };
  CHECK(difference("sgd", settings("sgd", {{"learning_rate", "0.05"}})) < tolerance);
  CHECK(difference("sgd", settings("sgd", {{"weight_decay", "0.1"}})) < tolerance);
  CHECK(difference("momentum", settings("momentum", {{"learning_rate", "0.02"}})) < tolerance);
  CHECK(difference("momentum", settings("momentum", {{"nesterov", "true"},
                                                     {"weight_decay", "0.1"}})) < tolerance);
  CHECK(difference("adam", settings("adam", {{"learning_rate", "0.01"}})) < tolerance);
  CHECK(difference("adam", settings("adam", {{"beta1", "0.8"}, {"weight_decay", "0.1"}})) <
        tolerance);
  CHECK(difference("adam", settings("adam", {{"amsgrad", "true"}, {"beta2", "0.9"}})) < tolerance);
  CHECK(difference("adamw", settings("adamw", {{"weight_decay", "0.2"}})) < tolerance);
  CHECK(difference("adamw", settings("adamw", {{"amsgrad", "true"},
                                               {"beta2", "0.9"},
                                               {"groups.0.name", "a"},
                                               {"groups.0.amsgrad", "false"}})) < tolerance);
  CHECK(difference("adagrad", settings("adagrad")) < tolerance);
  CHECK(difference("adagrad", settings("adagrad", {{"learning_rate_decay", "0.01"},
                                                   {"initial_accumulator_value", "0.5"},
                                                   {"weight_decay", "0.1"}})) < tolerance);
}

TEST_CASE("torch's optimizers go on from a saved state") {
  for (const std::string name : {"momentum", "adam", "adamw", "adagrad"}) {
    const auto make = [&] {
      return framework("torch").part<NativeOptimizers>().at(name).make(test::noisy_descent<float>(),
                                                                       "loss", settings(name));
    };
    const auto first = make();
    for (int step = 0; step < 5; ++step) first->step({});
    ValueMap state;
    for (const auto& [key, value] : first->state()) state[key] = value.tensor().copy();
    CHECK_FALSE(state.empty());
    const auto second = make();
    CHECK_THROWS_AS(second->restore({}), NotFound);
    second->restore(state);
    for (const auto& [key, value] : second->state()) {
      const Tensor& expected = state.at(key).tensor();
      CHECK(value.tensor().desc() == expected.desc());
      CHECK(std::memcmp(value.tensor().raw(), expected.raw(), expected.bytes()) == 0);
    }
  }
}

TEST_CASE("torch's rules refuse updates before begin_update of their step, and go on") {
  for (const auto& [name, entry] : framework("torch").part<NativeOptimizers>().entries()) {
    CAPTURE(name);
    const auto optimizer = std::dynamic_pointer_cast<ThreeStepOptimizer>(
        entry.make(test::noisy_descent<float>(), "loss", settings(name)));
    const auto refuses = [&] {
      Parameter& parameter = optimizer->executor().network().parameters()[0];
      const Tensor before = parameter.value.copy();
      CHECK_THROWS_AS(optimizer->update_rule(parameter.gradient, parameter, 0), ValueError);
      CHECK_THROWS_AS(optimizer->update_parameters({0, 2}, 1), ValueError);
      CHECK(std::memcmp(before.raw(), parameter.value.raw(), before.bytes()) == 0);
    };
    refuses();
    optimizer->step({});
    refuses();
    optimizer->step({});
  }
}
