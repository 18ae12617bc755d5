// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "d5/core/machine/threads.hpp"
#include "level2_training/optimization/shared/on_host.hpp"

namespace d5::detail {

/// Sum in float64, with several accumulators to hide latency.
template <class T>
double sum_of_squares(const T* values, std::int64_t count) {
  constexpr int kSums = 16;
  double sums[kSums] = {};
  std::int64_t i = 0;
  for (; i + kSums <= count; i += kSums) {
    for (int s = 0; s < kSums; ++s) {
      const double value = double(Wide<T>(values[i + s]));
      sums[s] += value * value;
    }
  }
  double total = 0;
  for (; i < count; ++i) total += double(Wide<T>(values[i])) * double(Wide<T>(values[i]));
  for (const double sum : sums) total += sum;
  return total;
}

/// Calls `take(column, sum)` for columns [begin, end) of a row-major matrix, with each column's sum
/// of squares.
template <class T, class Take>
void sum_squares_of_columns(const T* values, std::int64_t rows, std::int64_t columns,
                            std::int64_t begin, std::int64_t end, const Take& take) {
  constexpr std::int64_t kStrip = 64;
  for (std::int64_t from = begin; from < end; from += kStrip) {
    const std::int64_t width = std::min(kStrip, end - from);
    double sums[kStrip] = {};
    for (std::int64_t r = 0; r < rows; ++r) {
      const T* row = values + r * columns + from;
      for (std::int64_t c = 0; c < width; ++c) sums[c] += double(row[c]) * double(row[c]);
    }
    for (std::int64_t c = 0; c < width; ++c) take(from + c, sums[c]);
  }
}

/// Sums the results of `body(begin, end)` over blocks of [0, count), on several threads. Blocks and
/// the order of summation are fixed, so the number of threads changes no bits. A block should have
/// some thousand elements.
template <std::size_t N, class Body>
std::array<double, N> block_sums(std::int64_t count, const Body& body,
                                 std::int64_t block = std::int64_t{1} << 13) {
  const std::int64_t blocks = (count + block - 1) / block;
  std::vector<std::array<double, N>> sums(std::size_t(blocks), std::array<double, N>{});
  parallel_for(blocks, 8, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t b = begin; b < end; ++b) {
      sums[std::size_t(b)] = body(b * block, std::min(count, (b + 1) * block));
    }
  });
  std::array<double, N> total = {};
  for (const auto& sum : sums) {
    for (std::size_t n = 0; n < N; ++n) total[n] += sum[n];
  }
  return total;
}

}  // namespace d5::detail
