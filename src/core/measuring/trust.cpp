// SPDX-License-Identifier: Apache-2.0
#include "core/measuring/trust.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "core/statistics/two_modes.hpp"
#include "d5/core/clocks/clock.hpp"
#include "d5/core/measuring/metric.hpp"
#include "d5/core/results/results.hpp"

namespace d5::detail {
namespace {

// Fewer samples give too wide an interval (Hoefler and Belli, rule 5, and the Deep500 paper).
constexpr std::size_t kEnoughSamples = 30;
// Load that the system itself and the steps of its counter may cause, in processors.
constexpr double kHardlyAny = 0.25;
// Share of the time. It is 9% if waiting makes half of the samples a fifth longer.
constexpr double kHardlyWaited = 0.05;

/// Whether a record is a time or derived from one.
bool is_timed(const Measurement& m) {
  return m.quantity == Quantity::time || m.quantity == Quantity::rate;
}

/// Whether threads waited because other work had their processor.
bool waited_for_others(const MachineEvidence& seen) {
  return matters(seen.waited) && seen.others.value_or(kHardlyAny) >= kHardlyAny;
}

std::string drift_of(std::span<const double> samples) {
  // A shift that a machine of constant speed shows once in a thousand measurements, and that is
  // large enough to matter.
  constexpr double kRare = 1e-3, kMatters = 0.05;
  const auto first = samples.first(samples.size() / 2), second = samples.last(samples.size() / 2);
  const double before = summarise(first).median, after = summarise(second).median;
  const double shift = after / before - 1;
  if (!(std::abs(shift) > kMatters && rank_test(first, second) < kRare)) return "";
  return fmt::format("the samples drift: the second half is {:.0f}% {} than the first",
                     std::abs(shift) * 100, shift > 0 ? "higher" : "lower");
}

std::string modes_of(const Measurement& m) {
  const auto modes = two_modes(m.samples);
  if (!modes) return "";
  return fmt::format("the samples have two modes: {:.0f}% of them are around {}, the others {}",
                     modes->upper_share * 100, with_prefix(modes->upper, m.unit),
                     with_prefix(modes->lower, m.unit));
}

/// The description of a slow processor, by its own speed.
std::string slowness(const MachineEvidence& seen) {
  constexpr double kSlower = 1.1;      // within a measurement
  constexpr double kMuchSlower = 1.2;  // than the best, perhaps at a lower temperature
  if (seen.speeds.empty()) return "";
  const auto [slowest, fastest] = std::ranges::minmax(seen.speeds);
  if (fastest > kSlower * slowest) {
    return fmt::format("the processor's speed changed: it was down to {:.0f}% of its fastest",
                       100 * slowest / fastest);
  }
  const double median = summarise(seen.speeds).median;
  if (seen.best_speed <= kMuchSlower * median) return "";
  return fmt::format("the processor computed at {:.0f}% of its highest known speed",
                     100 * median / seen.best_speed);
}

void mistrust_all(Measurement& result, const std::vector<std::string>& reasons) {
  for (const auto& reason : reasons) mistrust(result, reason);
}

}  // namespace

void judge_presence(Measurement& result, const std::string& interruption) {
  if (!result.samples.empty()) {
    if (!interruption.empty()) mistrust(result, interruption);
  } else if (result.status == Status::passed ||
             (result.status == Status::skipped && !interruption.empty())) {
    result.status = Status::skipped;
    result.reason = interruption.empty() ? "no sample was taken" : interruption;
  }
}

void judge_count(Measurement& result, int asked) {
  const std::size_t count = result.samples.size();
  if (asked == 1 || count == 0 || count >= kEnoughSamples) return;
  mistrust(result, fmt::format("{} {}, fewer than the {} that a median needs", count,
                               count == 1 ? "sample" : "samples", kEnoughSamples));
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

std::vector<std::string> unsteadiness(const Measurement& result, int asked) {
  std::vector<std::string> reasons;
  if (asked == 1 || result.samples.size() < kEnoughSamples) return reasons;
  if (auto drift = drift_of(result.samples); !drift.empty()) {
    reasons.push_back(std::move(drift));
  } else if (is_timed(result) || result.quantity == Quantity::ratio) {
    if (auto modes = modes_of(result); !modes.empty()) reasons.push_back(std::move(modes));
  }
  return reasons;
}

std::string disturbance(double others, int own, int processors) {
  if (others + std::min(own, processors) <= processors + kHardlyAny) return "";
  return fmt::format("other work kept {:.1f} of {} processors busy, while d5 computed on {} {}",
                     others, processors, own, own == 1 ? "thread" : "threads");
}

bool matters(const WaitedTime& waited) { return waited.share() > kHardlyWaited; }

std::vector<std::string> disturbances(const MachineEvidence& seen) {
  std::vector<std::string> reasons;
  const auto add = [&](std::string reason) {
    if (!reason.empty()) reasons.push_back(std::move(reason));
  };
  if (seen.others) add(disturbance(*seen.others, seen.own_threads, seen.processors));
  if (waited_for_others(seen)) {
    add(fmt::format("d5's threads waited for a processor, together for {:.0f}% of the time",
                    100 * seen.waited.share()));
  }
  if (seen.stolen.value_or(0) > kHardlyWaited * seen.processors) {
    add(fmt::format("the hypervisor took {:.1f} of {} processors away", *seen.stolen,
                    seen.processors));
  }
  add(slowness(seen));
  return reasons;
}

bool is_disturbed(Quantity quantity) {
  return quantity == Quantity::time || quantity == Quantity::rate || quantity == Quantity::energy;
}

void judge_moment(Measurement& result, int asked, const MachineEvidence& seen) {
  mistrust_all(result, unsteadiness(result, asked));
  if (is_disturbed(result.quantity)) mistrust_all(result, disturbances(seen));
}

void judge_shared_moment(Measurement& ratio, const MachineEvidence& subject,
                         const MachineEvidence& base) {
  mistrust_all(ratio, unsteadiness(ratio, Metric::kAsAsked));
  if (!waited_for_others(subject) && !waited_for_others(base)) return;
  constexpr double kAlike = 2;  // factor; waits are few and long
  const double one = subject.waited.share(), other = base.waited.share();
  const double less = std::min(one, other), more = std::max(one, other);
  if (more <= kAlike * less + kHardlyWaited) return;
  mistrust(ratio,
           fmt::format("other work affected only one side: its threads waited for a processor "
                       "{:.0f}% of the time, the other's {:.0f}%",
                       100 * more, 100 * less));
}

}  // namespace d5::detail
