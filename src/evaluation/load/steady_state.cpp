// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/steady_state.hpp"

#include <numeric>
#include <vector>

namespace d5 {

std::optional<std::size_t> steady_from(std::span<const double> samples) {
  constexpr std::size_t kBatch = 5, kFewestBatches = 10;
  const std::size_t n = samples.size() / kBatch;
  if (n < kFewestBatches) return 0;
  std::vector<double> means(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto batch = samples.subspan(i * kBatch, kBatch);
    means[i] = std::accumulate(batch.begin(), batch.end(), 0.0) / double(kBatch);
  }
  // From the end on, by Welford's update: mean and sum of squares of means[d..n).
  double mean = 0, squares = 0, least = 0;
  std::size_t best = n;
  for (std::size_t d = n; d-- > 0;) {
    const double count = double(n - d), step = means[d] - mean;
    mean += step / count;
    squares += step * (means[d] - mean);
    if (d > n / 2) continue;
    const double error = squares / (count * count);
    if (best == n || error <= least) best = d, least = error;
  }
  if (best == n / 2) return std::nullopt;
  return best * kBatch;
}

}  // namespace d5
