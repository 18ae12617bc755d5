// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/overlap/overlap_account.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "d5/core/results/results.hpp"
#include "level3_distributed/schemes/step_parts.hpp"

namespace d5 {
namespace {

detail::TimeRange range_of(const OverlapTimes::Range& range) {
  return {range.begin_ns, range.end_ns};
}

std::vector<detail::TimeRange> ranges_of(const std::vector<OverlapTimes::Range>& ranges) {
  std::vector<detail::TimeRange> result;
  for (const auto& range : ranges) result.push_back(range_of(range));
  return result;
}

StepAccount account_of(const detail::StepParts& parts, std::vector<BucketTimes> buckets) {
  return {.compute = parts.compute,
          .overlap = parts.overlapped,
          .communication = parts.exposed,
          .idle = parts.idle,
          .buckets = std::move(buckets)};
}

}  // namespace

StepAccount account_of(const OverlapTimes& times) {
  return account_of(detail::parts_of(range_of(times.step), range_of(times.busy),
                                     ranges_of(times.calls), ranges_of(times.waits)),
                    times.buckets);
}

/// A step clock that records each step with its calls.
class OverlapRecorder::Clock final : public detail::StepClock {
 public:
  std::vector<StepAccount> steps;

 private:
  void stepped(const detail::StepParts& parts, const detail::TimeRange&) override {
    steps.push_back(account_of(parts, std::exchange(buckets_, {})));
  }
  void asked(const CommunicationInfo& call) override {
    buckets_.push_back({.id = call.id,
                        .label = std::string(call.label.empty() ? call.call : call.label),
                        .asked_ns = call.asked_ns});
  }
  void waited(std::uint64_t id, const detail::TimeRange& wait) override {
    if (BucketTimes* one = bucket(id)) one->exposed_ns += wait.end_ns - wait.begin_ns;
  }
  void completed(const CommunicationInfo& call) override {
    if (BucketTimes* one = bucket(call.id)) {
      one->begun_ns = call.begun_ns;
      one->ended_ns = call.ended_ns;
    }
  }
  BucketTimes* bucket(std::uint64_t id) {
    const auto place = std::ranges::find(buckets_, id, &BucketTimes::id);
    return place == buckets_.end() ? nullptr : &*place;
  }

  std::vector<BucketTimes> buckets_;
};

OverlapRecorder::OverlapRecorder() : clock_(std::make_unique<Clock>()) {}
OverlapRecorder::~OverlapRecorder() = default;
void OverlapRecorder::begin_step() { clock_->begin_step(); }
void OverlapRecorder::begin_compute() { clock_->begin_compute(); }
void OverlapRecorder::end_step() { clock_->end_step(); }
const std::vector<StepAccount>& OverlapRecorder::steps() const { return clock_->steps; }
void OverlapRecorder::clear() { clock_->steps.clear(); }
void OverlapRecorder::before_call(const CommunicationInfo& call) { clock_->before_call(call); }
void OverlapRecorder::after_call(const CommunicationInfo& call) { clock_->after_call(call); }
void OverlapRecorder::complete(const CommunicationInfo& call) { clock_->complete(call); }
void OverlapRecorder::before_wait(const CommunicationInfo& call) { clock_->before_wait(call); }
void OverlapRecorder::after_wait(const CommunicationInfo& call) { clock_->after_wait(call); }

TextTable account_table(const std::vector<StepAccount>& steps) {
  using enum TextTable::Align;
  TextTable table({{"steps", right},
                   {"step", right},
                   {"compute only", right},
                   {"overlap", right},
                   {"communication only", right},
                   {"idle", right}});
  if (steps.empty()) return table;
  const auto mean = [&](double StepAccount::* part) {
    double sum = 0;
    for (const StepAccount& step : steps) sum += step.*part;
    return sum / double(steps.size());
  };
  const double compute = mean(&StepAccount::compute), overlap = mean(&StepAccount::overlap),
               communication = mean(&StepAccount::communication), idle = mean(&StepAccount::idle);
  table.add({fmt::format("{}", steps.size()),
             with_prefix(compute + overlap + communication + idle, "s"), with_prefix(compute, "s"),
             with_prefix(overlap, "s"), with_prefix(communication, "s"), with_prefix(idle, "s")});
  return table;
}

TextTable bucket_table(const StepAccount& step, std::int64_t begin_ns) {
  using enum TextTable::Align;
  TextTable table({"bucket",
                   {"asked ms", right},
                   {"began ms", right},
                   {"ended ms", right},
                   {"exposed ms", right}});
  const auto ms = [](std::int64_t ns) { return fmt::format("{:.3f}", double(ns) * 1e-6); };
  for (const BucketTimes& one : step.buckets) {
    table.add({one.label, ms(one.asked_ns - begin_ns), ms(one.begun_ns - begin_ns),
               ms(one.ended_ns - begin_ns), ms(one.exposed_ns)});
  }
  return table;
}

}  // namespace d5
