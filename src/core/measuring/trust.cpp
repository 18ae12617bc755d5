// SPDX-License-Identifier: Apache-2.0
#include "core/measuring/trust.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "d5/core/clock.hpp"

namespace d5::detail {

void judge_presence(Measurement& result, const std::string& interruption) {
  if (!result.samples.empty()) {
    if (!interruption.empty()) mistrust(result, interruption);
  } else if (result.status == Status::passed ||
             (result.status == Status::skipped && !interruption.empty())) {
    result.status = Status::skipped;
    result.reason = interruption.empty() ? "no sample was taken" : interruption;
  }
}

void judge_samples(Measurement& result, int asked) {
  // Fewer give an interval too wide to rest on (Hoefler and Belli, rule 5, and the Deep500 paper).
  constexpr std::size_t kEnough = 30;
  const auto& samples = result.samples;
  if (asked == 1 || samples.empty()) return;
  if (samples.size() < kEnough) {
    mistrust(result, fmt::format("{} {}, fewer than the {} that a median needs", samples.size(),
                                 samples.size() == 1 ? "sample" : "samples", kEnough));
    return;
  }
  // A shift that a machine of one speed would show once in a thousand measurements, and that is
  // large enough to matter to a reader.
  constexpr double kRare = 1e-3, kMatters = 0.05;
  const std::span<const double> all(samples);
  const auto first = all.first(samples.size() / 2), second = all.last(samples.size() / 2);
  const double before = summarise(first).median, after = summarise(second).median;
  const double shift = after / before - 1;
  if (std::abs(shift) > kMatters && rank_test(first, second) < kRare) {
    mistrust(result, fmt::format("the samples drift: the second half is {:.0f}% {} than the first",
                                 std::abs(shift) * 100, shift > 0 ? "higher" : "lower"));
  }
}

void judge_clock(Measurement& result, double shortest_seconds) {
  constexpr double kFine = 100;  // the clock's own error is then below 1%
  const ClockCost clock = clock_cost();
  const double step = std::max(clock.seconds_per_read, clock.resolution_seconds);
  if (shortest_seconds < kFine * step) {
    mistrust(result, fmt::format("a sample took {:.0f} ns, the clock resolves {:.0f} ns",
                                 shortest_seconds * 1e9, step * 1e9));
  }
}

std::string disturbance(double others, int own, int processors) {
  constexpr double kHardlyAny = 0.25;  // what a system does for itself, and steps of its counter
  if (others + std::min(own, processors) <= processors + kHardlyAny) return "";
  return fmt::format("other work kept {:.1f} of {} processors busy, while d5 computed on {} {}",
                     others, processors, own, own == 1 ? "thread" : "threads");
}

void judge_other_work(Measurement& result, double others, int own, int processors) {
  const std::string reason = disturbance(others, own, processors);
  if (!reason.empty()) mistrust(result, reason);
}

}  // namespace d5::detail
