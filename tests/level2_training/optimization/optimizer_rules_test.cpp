// SPDX-License-Identifier: Apache-2.0
// Properties of single rules besides their formulas, which torch_optimizer_test checks.
#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/level2_training/optimization/optimizer.hpp"
#include "tests/level2_training/noisy_descent.hpp"
#include "tests/level2_training/scripted_executor.hpp"

using namespace d5;

namespace {

std::shared_ptr<Optimizer> make(const std::string& name, std::unique_ptr<GraphExecutor> executor,
                                std::map<std::string, std::string, std::less<>> settings = {}) {
  return optimizers().at(name).make(std::move(executor), "loss",
                                    Settings(name, std::move(settings)));
}

/// Half of sum lambda_i (w_i - 50^(-1/2))^2, with 50 lambda from 1 to 1e-3, from 0.
constexpr int kSides = 50;
double lambda(int i) { return std::pow(10, -3.0 * i / (kSides - 1)); }
double valley(std::span<const double> w) {
  double sum = 0;
  for (int i = 0; i < kSides; ++i) {
    const double away = w[std::size_t(i)] - 1 / std::sqrt(double(kSides));
    sum += lambda(i) * away * away / 2;
  }
  return sum;
}
/// Its coordinates are two parameters, so that norms of the whole differ from each one's.
std::unique_ptr<GraphExecutor> valley_descent() {
  return std::make_unique<test::ScriptedExecutor>(
      std::vector<std::pair<std::string, Tensor>>{{"first", Tensor::zeros(DType::float64, {20})},
                                                  {"rest", Tensor::zeros(DType::float64, {30})}},
      [](Network& network, std::int64_t) {
        int i = 0;
        for (Parameter& parameter : network.parameters()) {
          for (std::int64_t e = 0; e < parameter.value.elements(); ++e, ++i) {
            parameter.gradient.data<double>()[e] =
                lambda(i) * (parameter.value.data<double>()[e] - 1 / std::sqrt(double(kSides)));
          }
        }
        return 0.0;
      });
}
template <class T>
std::vector<T> values_of(Optimizer& optimizer) {
  std::vector<T> result;
  for (const Parameter& parameter : optimizer.executor().network().parameters()) {
    const auto values = parameter.value.span<T>();
    result.insert(result.end(), values.begin(), values.end());
  }
  return result;
}

ValueMap copy_of(const ValueMap& state) {
  ValueMap result;
  for (const auto& [key, value] : state) result[key] = value.tensor().copy();
  return result;
}

}  // namespace

TEST_CASE("AcceleGrad is accelerated: a valley of condition 1000 in 200 steps") {
  // One that forgets its state at each step is at 1e-3 by then.
  const auto optimizer =
      make("accelegrad", valley_descent(), {{"diameter", "2"}, {"gradient_bound", "0"}});
  for (int step = 0; step < 200; ++step) optimizer->step({});
  const TestParameters tested(*optimizer);
  CHECK(valley(values_of<double>(*optimizer)) < 1e-7);
}

TEST_CASE("AcceleGrad's norm is that of all parameters, unless each has its own") {
  const auto after_a_step = [](const std::string& per_parameter) {
    const auto optimizer =
        make("accelegrad", valley_descent(),
             {{"diameter", "2"}, {"gradient_bound", "0"}, {"per_parameter", per_parameter}});
    optimizer->step({});
    return values_of<double>(*optimizer);
  };
  // The first step is 2 D g / |g|: of length 4 in all, or for each.
  const auto length = [](std::span<const double> values) {
    double sum = 0;
    for (const double value : values) sum += value * value;
    return std::sqrt(sum);
  };
  const auto whole = after_a_step("false"), own = after_a_step("true");
  CHECK(length(whole) == Approx(4));
  CHECK(length(std::span(own).first(20)) == Approx(4));
  CHECK(length(std::span(own).last(30)) == Approx(4));
}

TEST_CASE("every rule goes on from its state to the bit") {
  for (const std::string& name : optimizers().names()) {
    for (const std::string setting : {"", "amsgrad", "centered"}) {
      const auto& entry = optimizers().at(name);
      if (!setting.empty() && !entry.has_option(setting)) continue;
      CAPTURE(name, setting);
      std::map<std::string, std::string, std::less<>> settings;
      if (!setting.empty()) settings[setting] = "true";
      if (entry.has_option("every")) settings["every"] = "4";
      const auto whole = make(name, test::noisy_descent<float>(), settings);
      for (int step = 0; step < 7; ++step) whole->step({});
      const ValueMap state = copy_of(whole->state());
      const auto values = values_of<float>(*whole);
      for (int step = 0; step < 3; ++step) whole->step({});

      const auto resumed = make(name, test::noisy_descent<float>(), settings);
      for (int step = 0; step < 7; ++step) resumed->step({});  // to the place in the script
      auto from = values.begin();
      for (Parameter& parameter : resumed->executor().network().parameters()) {
        for (float& value : parameter.value.span<float>()) value = *from++;
      }
      // Overwrites the remembered tensors.
      ValueMap nothing = copy_of(state);
      for (auto& [key, value] : nothing) {
        Tensor zeros = Tensor::zeros(value.tensor().dtype(), value.tensor().shape());
        value = zeros;
      }
      resumed->restore(nothing);
      resumed->restore(state);
      for (int step = 0; step < 3; ++step) resumed->step({});
      CHECK(values_of<float>(*resumed) == values_of<float>(*whole));
    }
  }
}

TEST_CASE("the number of threads changes no bit") {
  // Large enough for three; matrices of every size, and one too large for Shampoo's whole sums.
  const std::vector<Shape> shapes{
      {130, 1100}, {70001}, {20000, 3, 3}, {150000, 1, 1}, {40, 60, 50}};
  std::vector<Tensor> start, gradients;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    start.push_back(test::random_tensor<float>(shapes[i], 2 * i));
    gradients.push_back(test::random_tensor<float>(shapes[i], 2 * i + 1));
  }
  const auto after_steps = [&](const std::string& name, int threads) {
    set_threads(threads);
    std::vector<std::pair<std::string, Tensor>> parameters;
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      parameters.emplace_back("w" + std::to_string(i), start[i].copy());
    }
    // Pulled to zero, each element by a factor of its own, so that curvature is positive.
    auto executor = std::make_unique<test::ScriptedExecutor>(
        std::move(parameters), [&](Network& network, std::int64_t) {
          double loss = 0;
          for (std::size_t i = 0; i < shapes.size(); ++i) {
            Parameter& parameter = network.parameters()[i];
            for (std::int64_t e = 0; e < parameter.value.elements(); ++e) {
              const float w = parameter.value.data<float>()[e];
              const float factor = 1 + std::abs(gradients[i].data<float>()[e]);
              parameter.gradient.data<float>()[e] = factor * w;
              loss += double(factor) * w * w / 2;
            }
          }
          return loss;
        });
    std::map<std::string, std::string, std::less<>> settings;
    if (name == "shampoo") settings["largest_side"] = "200";
    if (name == "lbfgs") settings["iterations"] = "3";
    if (name == "stochastic_lbfgs") settings["every"] = "1";
    const auto optimizer = make(name, std::move(executor), settings);
    for (const std::int64_t epoch : {1, 2, 2, 2}) {
      optimizer->step({.values = {}, .size = 1, .epoch = epoch});
    }
    set_threads(1);
    return values_of<float>(*optimizer);
  };
  for (const std::string& name : optimizers().names()) {
    CAPTURE(name);
    const auto expected = after_steps(name, 1);
    for (const int threads : {2, 3}) {
      const bool same = after_steps(name, threads) == expected;
      CHECK(same);
    }
  }
}

TEST_CASE("parameters of 16 bits go the way of float32 ones, by their masters") {
  // The script's gradients are rounded to 16 bits, as is what is seen: the way is that of float32
  // to a rounding of bfloat16, 2^-8 of elements up to 4, and what noisy gradients make of theirs.
  for (const std::string& name : optimizers().names()) {
    if (name == "lbfgs") continue;  // the script's loss never falls: no line search ends
    CAPTURE(name);
    const auto wide = make(name, test::noisy_descent<float>());
    const auto narrow = make(name, test::noisy_descent<BFloat16>());
    for (Parameter& parameter : wide->executor().network().parameters()) {
      const auto& from = narrow->executor().network().parameter(parameter.name).value;
      for (std::int64_t i = 0; i < from.elements(); ++i) {
        parameter.value.data<float>()[i] = float(from.data<BFloat16>()[i]);
      }
    }
    const auto start = values_of<float>(*wide);
    for (int step = 0; step < 20; ++step) {
      wide->step({});
      narrow->step({});
    }
    const TestParameters tested_wide(*wide), tested_narrow(*narrow);
    const auto expected = values_of<float>(*wide);
    const auto given = values_of<BFloat16>(*narrow);
    double off = 0, size = 0;
    for (std::size_t i = 0; i < given.size(); ++i) {
      off += std::pow(double(float(given[i])) - expected[i], 2);
      size += std::pow(expected[i], 2);
    }
    CHECK(std::sqrt(off / size) < 0.01);
    CHECK(expected != start);
  }
}

TEST_CASE("a gradient that is not a number leaves none behind its parameter's back") {
  for (const std::string& name : optimizers().names()) {
    if (name == "shampoo") continue;  // refuses it
    CAPTURE(name);
    auto executor = std::make_unique<test::ScriptedExecutor>(
        std::vector<std::pair<std::string, Tensor>>{{"w", Tensor::of<float>({2}, {1, -2})}},
        [](Network& network, std::int64_t) {
          network.parameter("w").gradient.data<float>()[0] = std::nanf("");
          network.parameter("w").gradient.data<float>()[1] = 1;
          return 0.0;
        });
    const auto optimizer = make(name, std::move(executor));
    optimizer->step({});
    CHECK(std::isnan(values_of<float>(*optimizer)[0]));
  }
}

TEST_CASE("a group's memory is what its own options need") {
  const auto trained = [](std::map<std::string, std::string, std::less<>> settings) {
    const auto optimizer = make("shampoo", test::noisy_descent<double>(), std::move(settings));
    for (int step = 0; step < 5; ++step) optimizer->step({});
    const auto b = optimizer->executor().network().parameter("b").value.span<double>();
    return std::vector<double>(b.begin(), b.end());
  };
  // "b" has 33 elements: a sum of products with the group's options, its diagonal with the others'.
  const auto apart = trained({{"graft", "none"},
                              {"largest_side", "10"},
                              {"groups.0.name", "b"},
                              {"groups.0.graft", "adagrad"},
                              {"groups.0.largest_side", "40"}});
  CHECK(apart == trained({{"graft", "adagrad"}, {"largest_side", "40"}}));
  CHECK(apart != trained({{"graft", "none"}, {"largest_side", "10"}}));
}

TEST_CASE("options that need memory are chosen at first, by any group of parameters") {
  CHECK(make("adam", test::noisy_descent<float>())->state().contains("second_moment/a"));
  CHECK_FALSE(
      make("adam", test::noisy_descent<float>())->state().contains("largest_second_moment/a"));
  CHECK(make("adam", test::noisy_descent<float>(), {{"amsgrad", "true"}})
            ->state()
            .contains("largest_second_moment/a"));
  CHECK(make("adam", test::noisy_descent<float>(),
             {{"groups.0.name", "b"}, {"groups.0.amsgrad", "true"}})
            ->state()
            .contains("largest_second_moment/b"));
  const auto plain = make("rmsprop", test::noisy_descent<float>());
  plain->hyper_parameters().set("momentum", 0.9);
  CHECK_THROWS_WITH(plain->step({}), Catch::Contains("momentum"));
  CHECK_THROWS_WITH(make("muon", test::noisy_descent<float>(), {{"coefficients", "1,2"}})->step({}),
                    Catch::Contains("three"));
}
