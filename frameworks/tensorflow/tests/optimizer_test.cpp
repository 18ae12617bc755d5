// SPDX-License-Identifier: Apache-2.0
// Compares d5's optimizers with TensorFlow's, step by step on the same gradients.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "d5/core/entries/framework.hpp"
#include "d5/level2_training/optimization/optimizer.hpp"
#include "tests/level2_training/noisy_descent.hpp"

using namespace d5;

namespace {

constexpr int kSteps = 200;

Settings settings(const std::string& name,
                  std::map<std::string, std::string, std::less<>> values = {}) {
  return Settings("optimizer " + name, std::move(values));
}

const OptimizerEntry& tensorflows(const std::string& name) {
  return framework("tensorflow").part<NativeOptimizers>().at(name);
}

template <class T>
double difference(Optimizer& one, Optimizer& other) {
  double largest = 0;
  for (const char* name : {"a", "b"}) {
    const auto x = one.executor().network().parameter(name).value.template span<T>();
    const auto y = other.executor().network().parameter(name).value.template span<T>();
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double between = std::abs(double(x[i]) - double(y[i]));
      // std::max() would lose a NaN.
      if (!(between <= largest)) largest = between;
    }
  }
  return largest;
}

/// The largest difference in any step, relative to parameters of about 1.
template <class T>
double largest_difference(const std::string& name, const Settings& options) {
  const auto ours = optimizers().at(name).make(test::noisy_descent<T>(), "loss", options);
  const auto theirs = tensorflows(name).make(test::noisy_descent<T>(), "loss", options);
  double largest = 0;
  for (int step = 0; step < kSteps; ++step) {
    ours->step({});
    theirs->step({});
    const double between = difference<T>(*ours, *theirs);
    if (!(between <= largest)) largest = between;
  }
  return largest;
}

}  // namespace

TEMPLATE_TEST_CASE("d5's optimizers take TensorFlow's steps", "", float, double) {
  // Both round each step once or twice, in different order. The slope reduces differences, so that
  // they stay at some ulps of the parameters; Adam divides by a root, which doubles them.
  const double tolerance = std::is_same_v<TestType, float> ? 1e-5 : 1e-13;
  const auto largest = [](const std::string& name,
                          std::map<std::string, std::string, std::less<>> values) {
    return largest_difference<TestType>(name, settings(name, std::move(values)));
  };
  CHECK(largest("sgd", {{"learning_rate", "0.05"}}) < tolerance);
  CHECK(largest("sgd", {{"weight_decay", "0.1"}}) < tolerance);
  CHECK(largest("momentum", {{"learning_rate", "0.02"}}) < tolerance);
  CHECK(largest("momentum", {{"nesterov", "true"}, {"weight_decay", "0.1"}}) < tolerance);
  CHECK(largest("adam", {{"learning_rate", "0.01"}}) < tolerance);
  CHECK(largest("adam", {{"beta1", "0.8"}, {"weight_decay", "0.1"}}) < tolerance);
}

TEST_CASE("TensorFlow's optimizers go on from a saved state as if there had been no pause") {
  for (const std::string name : {"momentum", "adam"}) {
    const auto make = [&] {
      return tensorflows(name).make(test::noisy_descent<float>(), "loss", settings(name));
    };
    const auto first = make();
    for (int step = 0; step < 5; ++step) first->step({});
    const ValueMap state = first->state();
    CHECK_FALSE(state.empty());
    const auto second = make();
    CHECK_THROWS_AS(second->restore({}), NotFound);
    // Reaches the same position in the script of gradients in another way; then the same state.
    auto& network = second->executor().network();
    network.feed("a", Tensor::zeros(DType::float32, {5, 7}));
    for (int step = 0; step < 5; ++step) second->step({});
    second->restore(state);
    for (Parameter& parameter : first->executor().network().parameters()) {
      network.parameter(parameter.name).value.copy_from(parameter.value);
    }
    first->step({});
    second->step({});
    CHECK(difference<float>(*first, *second) == 0);
  }
}
