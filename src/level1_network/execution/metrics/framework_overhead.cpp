// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/execution/framework_overhead.hpp"

#include <fmt/format.h>

#include "d5/core/clocks/clock.hpp"
#include "d5/core/results/measurement.hpp"

namespace d5 {

void FrameworkOverhead::begin(int repetitions) {
  repetitions_ = repetitions;
  nodes_ = whole_ = 0;
  steps_ = 0;
}

void FrameworkOverhead::before_run(Pass) {
  open_.clear();  // left by a run that threw
  run_begin_ = now_seconds();
}
void FrameworkOverhead::after_run(Pass) { whole_ += now_seconds() - run_begin_; }
void FrameworkOverhead::before_node(const StepInfo&) {
  if (!open_.empty()) open_.back().holds = true;
  open_.push_back({.begin = 0});
  open_.back().begin = now_seconds();
}
void FrameworkOverhead::after_node(const StepInfo&) {
  const double now = now_seconds();
  if (!open_.back().holds) nodes_ += now - open_.back().begin;
  open_.pop_back();
  ++steps_;
}

void FrameworkOverhead::end() {
  // About one of a node's two clock readings falls into its interval and counts as the node's time.
  // The other falls outside, and so does one of the two around the run.
  const double clock = double(steps_ + repetitions_) * clock_cost().seconds_per_read;
  const double overhead = whole_ - nodes_ - clock;
  samples_.push_back(overhead / repetitions_);
  if (steps_ > 0 && whole_ > 0) shares_.push_back(overhead / whole_);
  clock_seconds_.push_back(clock / repetitions_);
}

void FrameworkOverhead::summarise(Measurement& result) const {
  if (steps_ == 0) {
    result.status = Status::unsupported;
    result.reason = "no node was observed: the subject names no executor's events";
    return;
  }
  result.samples = samples_;
  result.conditions["share of the run"] = aside(d5::summarise(shares_).median);
  result.conditions["clock seconds taken off"] = aside(d5::summarise(clock_seconds_).median, "s");
}

namespace network_metric {
void register_framework_overhead(Registry<MetricEntry>& registry) {
  registry.add("framework_overhead",
               MetricEntry::of<FrameworkOverhead>(
                   "executor overhead: time of a run beyond that of its operators"));
}
}  // namespace network_metric

}  // namespace d5
