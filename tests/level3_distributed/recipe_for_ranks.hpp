// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <string>

#include "d5/level2_training/training/recipe.hpp"

namespace d5::testing {

struct DigitsForRanks {
  int train = 36, test = 10;
  int seed = 1;  ///< training seed
};

/// LeNet by plain descent on digits that d5 carries: an epoch in steps of 12 samples. `more` are
/// lines that follow, of "mutable" or behind it.
inline Recipe recipe_for_ranks(const DigitsForRanks& digits = {}, const std::string& more = "") {
  return Recipe::parse(fmt::format(R"(name: tiny
fixed:
  dataset: {{name: mnist, subset: sample, train_samples: {}, test_samples: {}}}
  model: {{name: lenet}}
mutable:
  sampler: {{batch_size: 12}}
  optimizer: {{name: sgd, learning_rate: 0.05}}
  training: {{epochs: 1, seed: {}}}
{})",
                                   digits.train, digits.test, digits.seed, more),
                       "tiny.yaml");
}

}  // namespace d5::testing
