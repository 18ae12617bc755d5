// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/training/trials.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "d5/core/errors/error.hpp"

using namespace d5;

namespace {

Recipe tuned(const std::string& ranges) {
  return Recipe::parse(R"(name: tuned
fixed:
  dataset: {name: mnist, subset: sample}
  model: {name: lenet}
mutable:
  optimizer: {name: momentum, learning_rate: 0.02, momentum: 0.9}
)" + ranges,
                       "tuned.yaml");
}

double number(const Recipe& recipe, const std::string& key) {
  return std::stod(recipe.values().find(key)->second.text);
}

}  // namespace

TEST_CASE("Halton's points are the digits in reverse") {
  const double halves[]{0, 0.5, 0.25, 0.75, 0.125, 0.625, 0.375, 0.875};
  for (int i = 0; i < 8; ++i) CHECK(radical_inverse(i, 2) == halves[i]);
  const double thirds[]{0, 1 / 3.0, 2 / 3.0, 1 / 9.0, 4 / 9.0, 7 / 9.0};
  for (int i = 0; i < 6; ++i) CHECK(radical_inverse(i, 3) == Approx(thirds[i]));
  CHECK_THROWS_AS(radical_inverse(1, 1), ValueError);
  CHECK_THROWS_AS(radical_inverse(-1, 2), ValueError);
}

TEST_CASE("trials are points of the recipe's ranges, linear or logarithmic") {
  const auto trials = trials_of(tuned(R"(ranges:
  optimizer.learning_rate: {least: 0.001, most: 0.1, scale: logarithmic}
  optimizer.momentum: {least: 0, most: 0.9}
)"),
                                3);
  REQUIRE(trials.size() == 3);
  CHECK(number(trials[0], "optimizer.learning_rate") == Approx(0.01));
  CHECK(number(trials[1], "optimizer.learning_rate") == Approx(std::sqrt(0.001 * 0.01)));
  CHECK(number(trials[0], "optimizer.momentum") == Approx(0.3));
  CHECK(number(trials[2], "optimizer.momentum") == Approx(0.1));
  CHECK_THAT(trials[0].command().text(), Catch::Contains("--set optimizer.learning_rate=0.01"));
}

TEST_CASE("ranges that mean nothing are refused") {
  CHECK_THROWS_AS(trials_of(tuned(""), 3), ValueError);
  const auto refused = [](const std::string& line) {
    CHECK_THROWS_AS(tuned("ranges:\n  " + line + "\n"), FormatError);
  };
  refused("optimizer.learning_rate: {least: 1, most: 1}");
  refused("optimizer.learning_rate: {least: 0, most: 1, scale: logarithmic}");
  refused("optimizer.learning_rate: {least: 0, most: 1, scale: round}");
  refused("optimizer.rate: {least: 0, most: 1}");
  refused("dataset.subset: {least: 0, most: 1}");
}

TEST_CASE("another entry keeps the values that it has options for, and may come with its own") {
  Recipe recipe = tuned("");
  recipe.set("optimizer.name=adam:beta1=0.8");
  CHECK(recipe.choice("optimizer").name == "adam");
  CHECK(number(recipe, "optimizer.learning_rate") == 0.02);
  CHECK(number(recipe, "optimizer.beta1") == 0.8);
  CHECK_FALSE(recipe.values().contains("optimizer.momentum"));
  CHECK_THAT(recipe.command().text(), Catch::Contains("--set optimizer.name=adam:beta1=0.8"));
  Recipe same = tuned("");
  same.set("optimizer.name=momentum:learning_rate=0.5");
  CHECK(number(same, "optimizer.learning_rate") == 0.5);
  CHECK(number(same, "optimizer.momentum") == 0.9);
  Recipe fixed = tuned("");
  CHECK_THROWS_AS(fixed.set("model.name=mlp"), ValueError);
}
