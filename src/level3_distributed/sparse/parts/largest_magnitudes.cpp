// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/sparse/sparse_stream.hpp"

namespace d5 {
namespace {

/// Magnitude as bits, which gives a total order with NaN above infinity.
std::uint32_t magnitude(float value) { return std::bit_cast<std::uint32_t>(value) & 0x7fffffff; }

std::uint32_t kth_largest(std::vector<std::uint32_t> magnitudes, std::int64_t k) {
  const auto place = magnitudes.begin() + (k - 1);
  std::nth_element(magnitudes.begin(), place, magnitudes.end(), std::greater<>());
  return *place;
}

/// A threshold that most likely slightly more than k elements reach, estimated from a sample of m
/// with a margin of four standard deviations.
std::uint32_t bound_by_sample(std::span<const float> values, std::int64_t k) {
  constexpr std::size_t kStride = 61;  // a prime: matrix rows rarely have a multiple of it
  std::vector<std::uint32_t> sample;
  sample.reserve(values.size() / kStride + 1);
  for (std::size_t i = 0; i < values.size(); i += kStride) sample.push_back(magnitude(values[i]));
  const double expected = static_cast<double>(k) / kStride;
  const auto rank = static_cast<std::int64_t>(expected + 4 * std::sqrt(expected) + 4);
  if (rank >= static_cast<std::int64_t>(sample.size())) return 0;
  return kth_largest(std::move(sample), rank);
}

/// Indexes of elements that reach `bound`, ascending.
std::vector<std::uint32_t> at_least(std::span<const float> values, std::uint32_t bound) {
  std::vector<std::uint32_t> found;
  constexpr std::size_t kChunk = 4096;
  std::uint32_t chunk[kChunk];
  for (std::size_t begin = 0; begin < values.size(); begin += kChunk) {
    const std::size_t end = std::min(values.size(), begin + kChunk);
    std::size_t n = 0;
    for (std::size_t i = begin; i < end; ++i) {
      chunk[n] = static_cast<std::uint32_t>(i);
      n += magnitude(values[i]) >= bound;
    }
    found.insert(found.end(), chunk, chunk + n);
  }
  return found;
}

}  // namespace

std::vector<std::uint32_t> largest_magnitudes(std::span<const float> values, std::int64_t k) {
  const auto size = static_cast<std::int64_t>(values.size());
  if (k < 0 || k > size) {
    throw ValueError(
        fmt::format("the {} elements of largest magnitude of {}; expected 0 to the number of "
                    "elements: give a smaller number, or a fraction",
                    k, size));
  }
  if (k == 0) return {};
  std::vector<std::uint32_t> found = at_least(values, bound_by_sample(values, k));
  if (static_cast<std::int64_t>(found.size()) < k) found = at_least(values, 0);
  std::vector<std::uint32_t> magnitudes(found.size());
  std::ranges::transform(found, magnitudes.begin(),
                         [&](std::uint32_t index) { return magnitude(values[index]); });
  const auto larger = [&](std::uint32_t bound) {
    return std::ranges::count_if(magnitudes, [bound](std::uint32_t m) { return m > bound; });
  };
  const std::uint32_t bound = kth_largest(magnitudes, k);
  std::int64_t equals = k - larger(bound);
  std::size_t n = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const bool taken = magnitudes[i] > bound || (magnitudes[i] == bound && equals-- > 0);
    found[n] = found[i];
    n += taken;
  }
  found.resize(n);
  return found;
}

}  // namespace d5
