// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "d5/core/results/measurement.hpp"
#include "d5/level2_training/training/recipe.hpp"

namespace d5 {

/// One of several trainings of a recipe that stand side by side.
struct TrainingVariant {
  std::string name = {};  ///< tells it from the others; empty where it is alone
  Recipe recipe;
  std::string framework = "reference";
  std::map<std::string, std::string> differs = {};  ///< keys of the recipe, and what they are here
};

/// A variant for each value of "optimizer.name=adam,momentum". Throws: ValueError for fewer than
/// two, and what `Recipe::set` throws.
[[nodiscard]] std::vector<TrainingVariant> vary(const Recipe& recipe, const std::string& words);
/// A variant for each of the recipe's trials. Throws: what `trials_of` throws.
[[nodiscard]] std::vector<TrainingVariant> variants_of_trials(const Recipe& recipe,
                                                              std::int64_t trials);
/// Each of them in each framework.
[[nodiscard]] std::vector<TrainingVariant> in_each(const std::vector<TrainingVariant>& variants,
                                                   const std::vector<std::string>& frameworks);

struct BestVariant {
  std::size_t index = 0;
  double test_accuracy = 0;
};
/// Of the joined runs of each variant: the first whose test accuracy none exceeds. Nothing where
/// none has one.
[[nodiscard]] std::optional<BestVariant> best_of(
    const std::vector<std::vector<Measurement>>& joined);

}  // namespace d5
