// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "d5/core/entries/entry_words.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level2_training/optimization/step_modifier.hpp"
#include "d5/level2_training/training/trainer.hpp"
#include "d5/level2_training/training/training_metric.hpp"
#include "tests/level2_training/points.hpp"
#include "tests/level2_training/scripted_executor.hpp"

using namespace d5;

namespace {

std::vector<double> norms_of(Optimizer& optimizer) {
  const auto data = test::points_sampler(12, 4);
  Trainer trainer(optimizer, *data, nullptr);
  const auto norm = std::dynamic_pointer_cast<TrainingMetric>(metrics().at("gradient_norm").make());
  trainer.events().add(norm);
  try {
    trainer.run();
  } catch (const NumericError&) {  // parameters that stand still are no training
  }
  return norm->samples();
}

/// Norms of three steps whose gradients are {3, -4} and {12}, then twice and three times that.
std::vector<double> scripted(const Settings& settings) {
  const auto optimizer = open_optimizer(
      "sgd",
      std::make_unique<test::ScriptedExecutor>(
          std::vector<std::pair<std::string, Tensor>>{{"w", Tensor::of<double>({2}, {0, 0})},
                                                      {"b", Tensor::of<double>({1}, {0})}},
          [](Network& network, std::int64_t step) {
            const double scale = double(step + 1);
            network.parameter("w").gradient.copy_from(
                Tensor::of<double>({2}, {3 * scale, -4 * scale}));
            network.parameter("b").gradient.copy_from(Tensor::of<double>({1}, {12 * scale}));
            return 1.0;
          }),
      "loss", settings);
  return norms_of(*optimizer);
}

/// Norms of three steps from the same parameters, which do not move.
std::vector<double> standing(Settings settings, const std::string& name = "sgd") {
  settings.set("learning_rate", 0);
  const auto optimizer =
      open_optimizer(name, make_executor(test::points_network()), "loss", settings);
  return norms_of(*optimizer);
}

Settings modified(const std::vector<std::string>& modifiers) {
  Settings settings("sgd");
  for (std::size_t i = 0; i < modifiers.size(); ++i) {
    const std::string place = "modifiers." + std::to_string(i);
    const EntryChoice choice = entry_of_words("modifier", modifiers[i]);
    settings.set(place + ".name", choice.name);
    for (const auto& [key, value] : choice.settings.values()) {
      settings.set(place + "." + key, value);
    }
  }
  return settings;
}

}  // namespace

TEST_CASE("the norm of the gradients is that of all parameters together") {
  CHECK(scripted({}) == std::vector<double>{13, 26, 39});
}

TEST_CASE("neither a scale on the loss nor clipping is in the norm of the gradients") {
  const std::vector<double> expected{13, 26, 39};
  CHECK(scripted(modified({"loss_scale:initial=1024"})) == expected);
  CHECK(scripted(modified({"clip_norm:most=0.5"})) == expected);
  CHECK(scripted(modified({"clip_value:most=0.25"})) == expected);
  CHECK(scripted(modified({"clip_tensor_norm:most=0.5", "loss_scale:initial=64"})) == expected);
}

TEST_CASE("pieces of a batch have its gradient's norm, also scaled and clipped") {
  const auto expected = standing({});
  REQUIRE(expected.size() == 3);
  for (const auto& modifiers : std::vector<std::vector<std::string>>{
           {"accumulate:pieces=4"},
           {"accumulate:pieces=3", "loss_scale:initial=4096", "clip_norm:most=0.001"}}) {
    const auto norms = standing(modified(modifiers));
    REQUIRE(norms.size() == 3);
    // Sums of four samples in another order, in float32.
    for (std::size_t i = 0; i < 3; ++i) CHECK(norms[i] == Approx(expected[i]).epsilon(1e-6));
  }
}

TEST_CASE("a scale that is a power of two changes no bit of the norm") {
  CHECK(standing(modified({"loss_scale:initial=65536"})) == standing({}));
}

TEST_CASE("a step whose gradients overflow has an infinite norm, and the next its own") {
  const float most = std::numeric_limits<float>::max();
  const auto optimizer = open_optimizer(
      "sgd",
      std::make_unique<test::ScriptedExecutor>(
          std::vector<std::pair<std::string, Tensor>>{{"w", Tensor::of<float>({2}, {0, 0})}},
          [most](Network& network, std::int64_t step) {
            const float value = step == 0 ? most : 3;
            network.parameter("w").gradient.copy_from(Tensor::of<float>({2}, {value, -4}));
            return 1.0;
          }),
      "loss", modified({"loss_scale:initial=8"}));
  CHECK(norms_of(*optimizer) == std::vector<double>{std::numeric_limits<double>::infinity(), 5, 5});
}

TEST_CASE("the gradients of an optimizer that does not give them cannot be read") {
  struct Silent final : Optimizer {
    const ValueMap& step(const Batch&) override { return outputs; }
    GradientSource& gradients() override { return source; }
    ValueMap state() const override { return {}; }
    void restore(const ValueMap&) override {}
    HyperParameters& hyper_parameters() override { return numbers; }
    LocalGradients source{make_executor(test::points_network()), "loss"};
    ValueMap outputs;
    HyperParameters numbers;
  } silent;
  CHECK_THROWS_AS(norms_of(silent), Unsupported);
}
