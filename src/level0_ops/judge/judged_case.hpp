// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "d5/core/peak/machine_peak.hpp"
#include "d5/core/results/measurement.hpp"
#include "level0_ops/judge/baseline.hpp"
#include "level0_ops/judge/fresh_case.hpp"

namespace d5::detail {

/// A case of a judged source, with what its calls took.
struct JudgedCase {
  Measurement record = {};
  std::unique_ptr<FreshCase> fresh = {};  ///< null: it cannot be judged
  std::vector<Baseline> baselines = {};
  int calls = 0;
  double seconds = 0, used_seconds = 0;  ///< sums over timed calls: time, and processor time
  double hand_over_noise = 0;            ///< s

  /// The records at the end: the time, and for each baseline its time and the ratio. `samples` were
  /// asked for; `interruption` is why they are fewer.
  [[nodiscard]] std::vector<Measurement> records(int samples, const std::string& interruption,
                                                 const MachinePeak& peak);

 private:
  void judge_hand_over();
  void judge_processor_time();
};

}  // namespace d5::detail
