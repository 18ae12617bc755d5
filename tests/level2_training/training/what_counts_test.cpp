// SPDX-License-Identifier: Apache-2.0
// Notes of a training about samples that are in no batch, and about what its loss counts.
#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/level2_training/tiny_recipe.hpp"

using namespace d5;

namespace {

std::vector<std::string> lines_of(const Recipe& recipe, std::vector<Measurement>& results) {
  std::vector<std::string> lines;
  TrainingSession session(recipe, {.say = [&](const std::string& line) { lines.push_back(line); }});
  results = session.run();
  return lines;
}

bool any_says(const std::vector<std::string>& lines, const std::string& words) {
  return std::ranges::any_of(
      lines, [&](const auto& line) { return line.find(words) != std::string::npos; });
}

}  // namespace

TEST_CASE("a tail that is dropped is said: at the start, in each epoch and in the records") {
  const Recipe recipe = Recipe::parse(R"(name: tiny
fixed:
  dataset: {name: mnist, subset: sample, train_samples: 20, test_samples: 10}
  model: {name: lenet}
mutable:
  sampler: {batch_size: 8, tail: drop}
  optimizer: {name: sgd, learning_rate: 0.05}
  training: {epochs: 1, seed: 1}
)",
                                      "tiny.yaml");
  std::vector<Measurement> results;
  const auto lines = lines_of(recipe, results);
  CHECK(any_says(lines, "2 batches an epoch, which leave out 4 samples"));
  CHECK(any_says(lines, "step 2, 4 samples left out"));
  CHECK(test::record_of(results, "loss").conditions.at("left_out") == "4");
  const auto whole = lines_of(test::tiny_recipe(), results);
  CHECK(!any_says(whole, "left out"));
  CHECK(!any_says(whole, "leave out"));
  CHECK(!test::record_of(results, "loss").conditions.contains("left_out"));
  CHECK(!test::record_of(results, "loss").conditions.contains("loss_counts"));
}
