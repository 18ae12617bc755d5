// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/training/convergence_reference.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "d5/core/errors/error.hpp"

using namespace d5;

namespace {

Recipe recipe_with(const std::string& more) {
  return Recipe::parse(R"(# A comment that stays.
name: tiny
fixed:
  dataset: {name: mnist, subset: sample}
  model: {name: lenet}
  optimizer: {name: sgd}
)" + more,
                       "tiny.yaml");
}

std::vector<Measurement> joined(const std::vector<double>& samples) {
  return {{.metric = kReferenceMetric, .samples = samples}};
}

Measurement judged(const std::vector<double>& samples) {
  const Recipe recipe = recipe_with(
      "reference:\n  samples_to_accuracy: [100, 110, 90, 105, 95, 100, 100, 110, 90, 100]\n");
  auto results = joined(samples);
  judge_convergence(results, recipe);
  return results.front();
}

}  // namespace

TEST_CASE("runs like the reference pass, faster ones are mistrusted, slower ones fail") {
  CHECK(judged({101, 99, 104, 97, 100}).status == Status::passed);
  CHECK(judged({101, 99, 104, 97, 100}).conditions.at("reference_mean") == "100");
  const Measurement faster = judged({70, 72, 71, 69, 73});
  CHECK(faster.status == Status::mistrusted);
  CHECK_THAT(faster.reason, Catch::Contains("below"));
  const Measurement slower = judged({130, 132, 131, 129, 133});
  CHECK(slower.status == Status::failed);
  CHECK_THAT(slower.reason, Catch::Contains("above"));
  CHECK(judged({130}).status == Status::passed);  // one run tells nothing
  CHECK_FALSE(judged({130}).conditions.contains("reference_mean"));
}

TEST_CASE("runs that do not vary pass where they are the reference's, and are told apart else") {
  const Recipe recipe =
      recipe_with("reference:\n  samples_to_accuracy: [0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]\n");
  const auto status_of = [&](double sample) {
    auto results = joined({sample, sample, sample});
    judge_convergence(results, recipe);
    return results.front().status;
  };
  CHECK(status_of(0.1) == Status::passed);
  CHECK(status_of(0.2) == Status::failed);
  CHECK(status_of(0.05) == Status::mistrusted);
}

TEST_CASE("a reference is written into the recipe, in place of an older one") {
  const std::vector<double> runs{1, 2, 3, 4, 5, 6, 7, 8, 9, 10.5};
  const Recipe before = recipe_with("reference:\n  samples_to_accuracy: [3, 4]\nsummary: kept\n");
  const std::string text = with_reference(before, joined(runs));
  CHECK_THAT(text, Catch::Contains("# A comment that stays.") && !Catch::Contains("[3, 4]"));
  const Recipe after = Recipe::parse(text, "tiny.yaml");
  CHECK(after.reference().at(kReferenceMetric) == runs);
  CHECK(after.summary() == "kept");
  CHECK(after.checksum() == before.checksum());
}

TEST_CASE("too few runs, or one that did not converge, make no reference") {
  const Recipe recipe = recipe_with("");
  CHECK_THROWS_AS(with_reference(recipe, joined({1, 2, 3})), ValueError);
  CHECK_THROWS_AS(with_reference(recipe, joined({1, 2, 3, 4, 5, 6, 7, 8, 9, INFINITY})),
                  ValueError);
  CHECK_THROWS_WITH(with_reference(recipe, {}), Catch::Contains("samples_to_accuracy"));
  CHECK_THROWS_AS(recipe_with("reference:\n  samples_to_accuracy: [1]\n"), FormatError);
  CHECK_THROWS_AS(recipe_with("reference:\n  samples_to_accuracy: 1\n"), FormatError);
}
