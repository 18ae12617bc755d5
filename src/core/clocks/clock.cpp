// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <chrono>

#include "core/clocks/virtual_clock.hpp"
#include "d5/core/clocks/clock.hpp"

namespace d5 {
namespace {

thread_local detail::VirtualClock virtual_clock = nullptr;

using Clock = std::chrono::steady_clock;
static_assert(Clock::is_steady);

ClockCost measure_clock() {
  constexpr int kBlocks = 21, kReads = 1000;
  std::array<double, kBlocks> costs{};
  double resolution = 1;
  for (double& cost : costs) {
    const auto begin = Clock::now();
    auto last = begin;
    for (int i = 0; i < kReads; ++i) {
      const auto now = Clock::now();
      if (now != last) {
        resolution = std::min(resolution, std::chrono::duration<double>(now - last).count());
      }
      last = now;
    }
    cost = std::chrono::duration<double>(last - begin).count() / kReads;
  }
  std::sort(costs.begin(), costs.end());
  return {costs[kBlocks / 2], resolution};
}

}  // namespace

detail::VirtualClock& detail::virtual_clock_of_thread() { return virtual_clock; }

double now_seconds() {
  if (virtual_clock) return virtual_clock();
  // Counted from the first reading: a double then resolves a nanosecond for months.
  static const Clock::time_point start = Clock::now();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

ClockCost clock_cost() {
  static const ClockCost cost = measure_clock();
  return cost;
}

}  // namespace d5
