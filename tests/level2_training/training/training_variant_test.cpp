// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/training/training_variant.hpp"

#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "tests/level2_training/tiny_recipe.hpp"

using namespace d5;

TEST_CASE("a value each makes a variant each, in each framework") {
  const auto variants = vary(test::tiny_recipe(), "optimizer.name=adam:learning_rate=0.001,sgd");
  REQUIRE(variants.size() == 2);
  CHECK(variants[0].name == "adam:learning_rate=0.001");
  CHECK(variants[0].recipe.choice("optimizer").settings.number("learning_rate", 0) == 0.001);
  CHECK(variants[1].differs.at("optimizer.name") == "sgd");
  const auto all = in_each(variants, {"reference", "torch"});
  REQUIRE(all.size() == 4);
  CHECK(all[3].name == "sgd in torch");
  CHECK(all[3].framework == "torch");
  CHECK(in_each(variants, {"torch"})[0].name == variants[0].name);
  for (const char* words : {"optimizer.name=adam", "optimizer.name", ""}) {
    CHECK_THROWS_AS(vary(test::tiny_recipe(), words), ValueError);
  }
}

TEST_CASE("the best variant is the first whose test accuracy none exceeds") {
  const auto with = [](std::vector<double> accuracies) {
    return std::vector<Measurement>{{.metric = "loss", .samples = {9}},
                                    {.metric = "test_accuracy", .samples = std::move(accuracies)}};
  };
  const auto best = best_of({with({0.7}), with({}), with({0.9}), {}, with({0.9})});
  REQUIRE(best);
  CHECK(best->index == 2);
  CHECK(best->test_accuracy == 0.9);
  CHECK_FALSE(best_of({with({})}));
}
