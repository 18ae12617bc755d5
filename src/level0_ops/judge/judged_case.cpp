// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/judge/judged_case.hpp"

#include <fmt/format.h>

#include "core/measuring/trust.hpp"
#include "d5/core/measuring/ratio.hpp"
#include "level0_ops/judge/time_floor.hpp"

namespace d5::detail {

std::vector<Measurement> JudgedCase::records(int samples, const std::string& interruption,
                                             const MachinePeak& peak) {
  if (record.status == Status::passed) record.conditions["answers"] = finding("right");
  if (fresh) judge_floor(record, *fresh, peak);
  if (record.status == Status::passed) {
    judge_presence(record, interruption);
    judge_count(record, samples);
    judge_hand_over();
    judge_processor_time();
  }
  std::vector<Measurement> all = {record};
  for (Baseline& baseline : baselines) {
    judge_presence(baseline.record(), interruption);
    judge_count(baseline.record(), samples);
    all.push_back(baseline.record());
    all.push_back(ratio_record(record, baseline.record()));
  }
  return all;
}

/// Doubts a time that the noise of handing over may have made.
void JudgedCase::judge_hand_over() {
  constexpr double kFine = 10;  // the noise is then below 10%
  if (record.samples.empty()) return;
  const double median = estimate(record).value;
  if (median >= kFine * hand_over_noise) return;
  mistrust(record, fmt::format("a call took {:.1f} us, and handing over varies by {:.1f} us; "
                               "judge larger sizes",
                               median * 1e6, hand_over_noise * 1e6));
}

/// Doubts a time that the source's own work does not explain.
void JudgedCase::judge_processor_time() {
  constexpr double kExplained = 0.8;
  if (used_seconds >= kExplained * seconds) return;
  mistrust(record, fmt::format("its processor time is {:.0f}% of the time: other work had its "
                               "processor, or it slept",
                               100 * used_seconds / seconds));
}

}  // namespace d5::detail
