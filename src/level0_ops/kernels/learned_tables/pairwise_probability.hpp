// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

namespace d5::detail {

/// The probabilities of k classes from those of each pair: `pairs[i * k + j]` that it is class i of
/// classes i and j. `scratch` has k * k + k numbers.
///
/// Source: Wu, Lin and Weng, "Probability estimates for multi-class classification by pairwise
/// coupling" (2004), their second method.
void couple(std::span<const double> pairs, std::span<double> probabilities,
            std::span<double> scratch);

}  // namespace d5::detail
