// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/framework_overhead.hpp"

#include <fmt/format.h>

#include "d5/core/measurement.hpp"

namespace d5 {

void FrameworkOverhead::begin(int repetitions) {
  repetitions_ = repetitions;
  nodes_ = whole_ = 0;
  steps_ = 0;
}

void FrameworkOverhead::before_run(Pass) { run_begin_ = now_seconds(); }
void FrameworkOverhead::after_run(Pass) { whole_ += now_seconds() - run_begin_; }
void FrameworkOverhead::before_node(const StepInfo&) { node_begin_ = now_seconds(); }
void FrameworkOverhead::after_node(const StepInfo&) {
  nodes_ += now_seconds() - node_begin_;
  ++steps_;
}

void FrameworkOverhead::end() {
  // Of a node's two readings, about one falls between them, and counts as the node's; the other
  // falls outside, and so does one of the two around the run.
  const double clock = double(steps_ + repetitions_) * clock_cost().seconds_per_read;
  const double overhead = whole_ - nodes_ - clock;
  samples_.push_back(overhead / repetitions_);
  shares_.push_back(whole_ > 0 ? overhead / whole_ : 0);
  clock_seconds_.push_back(clock / repetitions_);
}

void FrameworkOverhead::summarise(Measurement& result) const {
  result.samples = samples_;
  if (samples_.empty()) return;
  if (steps_ == 0) {
    result.status = Status::failed;
    result.reason = "no node was observed; add the metric to the executor's events as well";
    return;
  }
  result.conditions["share of the run"] = fmt::format("{:.6f}", d5::summarise(shares_).median);
  result.conditions["clock seconds taken off"] =
      fmt::format("{:.3e}", d5::summarise(clock_seconds_).median);
}

}  // namespace d5
