// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "d5/level2_training/data/sampler.hpp"

namespace d5::detail {

/// Adds a batch's samples to the number of samples of each class.
/// Throws: ValueError for a label below 0 or above 1e6; TypeError for one that is not an integer.
void count_classes(const Batch& batch, const std::string& label, std::vector<double>& counts);

/// Expected share of each class under a sampler's law: by its probabilities, otherwise the shares
/// in the data. Throws: what `Dataset::labels` throws.
[[nodiscard]] std::vector<double> promised_shares(const Sampler& sampler, const std::string& label);

/// Pearson's test of counts against expected shares.
struct GoodnessOfFit {
  double chi_squared = 0;
  double p_value = 1;  ///< probability of a deviation at least as large by chance
};

/// Classes with share 0 have no degree of freedom; if one was drawn anyway, the statistic is
/// infinite.
///
/// Source: Pearson, "On the Criterion that a Given System of Deviations from the Probable ... Can
/// be Reasonably Supposed to Have Arisen from Random Sampling" (1900).
[[nodiscard]] GoodnessOfFit goodness_of_fit(const std::vector<double>& counts,
                                            const std::vector<double>& shares);

}  // namespace d5::detail
