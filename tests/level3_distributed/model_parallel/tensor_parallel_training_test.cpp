// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "tests/level3_distributed/model_parallel/parted_training.hpp"
#include "tests/level3_distributed/this_rank.hpp"

using namespace d5;
using namespace d5::testing;

namespace {

PartedRecipe recipe_of(const std::string& optimizer = "{name: momentum, learning_rate: 0.05}",
                       const std::string& model = "{name: mlp, layers: 3, width: 24}") {
  return {.optimizer = optimizer, .model = model};
}

Recipe in_parts(const PartedRecipe& recipe, int parts) {
  return recipe.by("tensor_parallel", {"parts=" + std::to_string(parts)});
}

}  // namespace

TEST_CASE("parts of tensors train what one rank does with the same batch") {
  for (const std::string optimizer :
       {"{name: momentum, learning_rate: 0.05, modifiers: [{name: clip_norm, most: 0.5}, ema]}",
        "{name: adam, learning_rate: 0.001, epsilon: 0.001}"}) {
    const PartedRecipe recipe = recipe_of(optimizer);
    auto alone = trained_alone(recipe.alone());
    for (const int parts : parts_to_try()) {
      INFO(optimizer << " " << parts);
      auto mine = trained_by_all(in_parts(recipe, parts));
      // Sums of rows in parts, and of replicas: a few 2^-24 of each of 6 steps' gradients, which
      // momentum carries on.
      CHECK(distance(mine.network, alone.network) <= 2e-5);
      CHECK(mine.result("test_accuracy").samples == alone.result("test_accuracy").samples);
      CHECK(mine.last("training_accuracy") == Approx(alone.last("training_accuracy")));
    }
  }
}

TEST_CASE("training in parts of tensors goes on from a checkpoint to the bit") {
  if (rank_count == 1) return;
  const SharedFolder folder;
  const std::string cut = folder / "cut.ckpt";
  const auto ended = [&](int batches, SessionOptions session) {
    session.checkpoint_every = 2;
    PartedRecipe recipe = recipe_of("{name: adam, learning_rate: 0.001}");
    recipe.batches = batches;
    return trained_by_all(in_parts(recipe, rank_count), std::move(session));
  };
  auto expected = ended(6, {});
  (void)ended(4, {.checkpoint = cut});
  auto mine = ended(6, {.checkpoint = cut, .resume = cut});
  CHECK(same_bits(mine.network, expected.network));
}

TEST_CASE("what cannot be cut, or reads whole tensors, is refused on every rank") {
  if (rank_count == 1) return;
  const auto all = [](const PartedRecipe& recipe, int parts = rank_count) {
    (void)trained_by_all(in_parts(recipe, parts));
  };
  const std::string usual = "{name: momentum, learning_rate: 0.05}";
  CHECK_THROWS_WITH(all(recipe_of(usual, "{name: mlp, width: 23}")), Catch::Contains("fc1.weight"));
  CHECK_THROWS_AS(all(recipe_of(usual, "{name: mlp, layers: 0}")), Unsupported);
  CHECK_THROWS_AS(all(recipe_of("{name: lars, learning_rate: 0.05}")), Unsupported);
  CHECK_THROWS_AS(all(recipe_of("{name: sgd, learning_rate: 0.1, modifiers: [clip_tensor_norm]}")),
                  Unsupported);
  CHECK_THROWS_AS(all(recipe_of(), rank_count + 1), ValueError);
}
