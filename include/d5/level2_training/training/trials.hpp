// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "d5/level2_training/training/recipe.hpp"

namespace d5 {

/// Element `index`, from 1, of the van der Corput sequence: the digits of `index` in a base,
/// mirrored at the radix point. Throws: ValueError for a base below 2 or an index below 0.
[[nodiscard]] double radical_inverse(std::int64_t index, std::int64_t base);

/// The recipe at the first `count` points of a Halton sequence in its ranges, with one prime base
/// per range. Any number of points covers the ranges evenly.
///
/// Source: Halton, "On the Efficiency of Certain Quasi-Random Sequences of Points in Evaluating
/// Multi-Dimensional Integrals" (1960); for training: Bousquet et al., "Critical Hyper-Parameters:
/// No Random, No Cry" (2017).
/// Throws: ValueError for a recipe without ranges, or with more than 10.
[[nodiscard]] std::vector<Recipe> trials_of(const Recipe& recipe, std::int64_t count);

}  // namespace d5
