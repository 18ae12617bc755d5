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

/// One of several trainings of a recipe to compare.
struct TrainingVariant {
  std::string name = {};  ///< distinguishes it from the others; empty for a single one
  Recipe recipe;
  std::string framework = "reference";
  std::map<std::string, std::string> differs = {};  ///< keys of the recipe that differ, with their
                                                    ///< values
};

/// Makes one variant for each value of "optimizer.name=adam,momentum". Throws: ValueError for fewer
/// than two; what `Recipe::set` throws.
[[nodiscard]] std::vector<TrainingVariant> vary(const Recipe& recipe, const std::string& words);
/// Makes one variant for each of the recipe's trials. Throws: what `trials_of` throws.
[[nodiscard]] std::vector<TrainingVariant> variants_of_trials(const Recipe& recipe,
                                                              std::int64_t trials);
/// Combines each variant with each framework.
[[nodiscard]] std::vector<TrainingVariant> in_each(const std::vector<TrainingVariant>& variants,
                                                   const std::vector<std::string>& frameworks);

struct BestVariant {
  std::size_t index = 0;
  double test_accuracy = 0;
};
/// The first variant with the highest test accuracy in its joined runs; empty if none has one.
[[nodiscard]] std::optional<BestVariant> best_of(
    const std::vector<std::vector<Measurement>>& joined);

}  // namespace d5
