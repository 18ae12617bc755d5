// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/load/steady_state.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "d5/core/statistics/student.hpp"

namespace d5 {
namespace {

double mean_of(std::span<const double> samples) {
  return std::accumulate(samples.begin(), samples.end(), 0.0) / double(samples.size());
}

/// Whether the means of the two halves differ significantly.
bool halves_differ(std::span<const double> samples) {
  constexpr std::size_t kBatches = 5;  // batches per half: long ones are least correlated
  constexpr double kSignificance = 0.01;
  const std::size_t size = samples.size() / (2 * kBatches);
  std::vector<double> first, second;
  for (std::size_t i = 0; i < kBatches; ++i) {
    first.push_back(mean_of(samples.subspan(i * size, size)));
    second.push_back(mean_of(samples.last((i + 1) * size).first(size)));
  }
  const double smaller = is_smaller_p_value(first, second);
  return 2 * std::min(smaller, 1 - smaller) < kSignificance;
}

}  // namespace

std::optional<std::size_t> steady_from(std::span<const double> samples) {
  constexpr std::size_t kBatch = 5, kFewestBatches = 10;
  const std::size_t n = samples.size() / kBatch;
  if (n < kFewestBatches) return 0;
  std::vector<double> means(n);
  for (std::size_t i = 0; i < n; ++i) {
    means[i] = mean_of(samples.subspan(i * kBatch, kBatch));
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
  if (best < n / 2) return best * kBatch;
  if (halves_differ(samples)) return std::nullopt;
  return 0;
}

}  // namespace d5
