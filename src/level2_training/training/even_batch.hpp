// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level2_training/data/sampler.hpp"
#include "d5/level2_training/optimization/rank_agreement.hpp"

namespace d5::detail {

/// Whether every rank has the same number of samples of this batch; the same result on each.
[[nodiscard]] inline bool is_even(const Batch& batch, const RankAgreement& ranks) {
  return batch.global_size % (ranks.ranks() / ranks.ranks_of_model()) == 0;
}

}  // namespace d5::detail
