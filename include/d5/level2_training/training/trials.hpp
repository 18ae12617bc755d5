// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "d5/level2_training/training/recipe.hpp"

namespace d5 {

/// Number `index`, from 1, of van der Corput's sequence in a base: its digits behind the point, in
/// reverse. Throws: ValueError for a base below 2 or an index below 0.
[[nodiscard]] double radical_inverse(std::int64_t index, std::int64_t base);

/// The recipe at the first `count` points of its ranges, which fill them evenly however many they
/// are: a prime base for each range.
///
/// Source: Halton, "On the Efficiency of Certain Quasi-Random Sequences of Points in Evaluating
/// Multi-Dimensional Integrals" (1960); of training: Bousquet et al., "Critical Hyper-Parameters:
/// No Random, No Cry" (2017). Throws: ValueError for a recipe without ranges, or with more than 10.
[[nodiscard]] std::vector<Recipe> trials_of(const Recipe& recipe, std::int64_t count);

}  // namespace d5
