// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace d5::detail {

/// Folds values in 16 lanes and then folds the lanes, so that the loop vectorises with the same
/// order on every machine. `step(lane, value)` returns the new lane, `join` combines two lanes.
template <class T, class Step, class Join>
[[nodiscard]] T fold_in_lanes(std::span<const float> values, T initial, const Step& step,
                              const Join& join) {
  constexpr std::size_t kLanes = 16;
  std::array<T, kLanes> lanes;
  lanes.fill(initial);
  const std::size_t whole = values.size() / kLanes * kLanes;
  for (std::size_t i = 0; i < whole; i += kLanes) {
    for (std::size_t l = 0; l < kLanes; ++l) lanes[l] = step(lanes[l], values[i + l]);
  }
  T result = initial;
  for (std::size_t i = whole; i < values.size(); ++i) result = step(result, values[i]);
  for (const T& lane : lanes) result = join(result, lane);
  return result;
}

/// The sum of f(value), in float64.
template <class F>
[[nodiscard]] double sum_in_lanes(std::span<const float> values, const F& f) {
  return fold_in_lanes(
      values, 0.0, [&f](double sum, float x) { return sum + f(x); },
      [](double a, double b) { return a + b; });
}

}  // namespace d5::detail
