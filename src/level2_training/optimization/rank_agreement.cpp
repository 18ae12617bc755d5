// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/optimization/rank_agreement.hpp"

#include <array>

namespace d5 {

void RankAgreement::sum(std::span<double> values) {
  if (ranks() > 1) do_sum(values);
}

double RankAgreement::sum(double mine) {
  sum(std::span(&mine, 1));
  return mine;
}

double RankAgreement::mean(double mine, double weight) {
  if (ranks() == 1) return mine;
  // A number with weight 0 may be NaN.
  std::array sums{weight > 0 ? mine * weight : 0.0, weight};
  sum(sums);
  return sums[0] / sums[1];
}

double RankAgreement::mean(double mine, const Batch& batch) {
  return mean(mine, batch.global_size == 0 ? 1.0 : double(batch.size));
}

bool RankAgreement::any(bool mine) { return sum(mine ? 1.0 : 0.0) > 0; }

}  // namespace d5
