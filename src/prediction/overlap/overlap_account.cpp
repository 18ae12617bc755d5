// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/overlap_account.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "d5/core/results.hpp"
#include "d5/core/trace.hpp"
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

}  // namespace

StepAccount account_of(const OverlapTimes& times) {
  const detail::StepParts parts = detail::parts_of(range_of(times.step), range_of(times.busy),
                                                   ranges_of(times.calls), ranges_of(times.waits));
  return {.compute = parts.compute,
          .overlap = parts.overlapped,
          .communication = parts.exposed,
          .idle = parts.idle,
          .buckets = times.buckets};
}

/// The step that is under way.
struct OverlapRecorder::Now {
  std::mutex mutex = {};
  std::thread::id computes = {};
  OverlapTimes times = {};
  std::map<std::uint64_t, std::int64_t> under_way = {};  // begin, by id; from earlier steps, too
  int depth = 0;                                         // of calls and waits within each other
  std::int64_t wait_begin_ns = 0;
  std::uint64_t waits_for = 0;

  [[nodiscard]] bool computes_here() const { return std::this_thread::get_id() == computes; }
  BucketTimes* bucket(std::uint64_t id) {
    const auto place = std::ranges::find(times.buckets, id, &BucketTimes::id);
    return place == times.buckets.end() ? nullptr : &*place;
  }
  void begin_wait(std::uint64_t id) {
    if (!computes_here() || depth++ > 0) return;
    wait_begin_ns = Trace::now_ns();
    waits_for = id;
  }
  void end_wait() {
    if (!computes_here() || depth == 0 || --depth > 0) return;
    const std::int64_t now = Trace::now_ns();
    times.waits.push_back({wait_begin_ns, now});
    if (BucketTimes* one = bucket(waits_for)) one->exposed_ns += now - wait_begin_ns;
  }
};

OverlapRecorder::OverlapRecorder() : now_(std::make_unique<Now>()) {}
OverlapRecorder::~OverlapRecorder() = default;

void OverlapRecorder::begin_step() {
  const std::lock_guard lock(now_->mutex);
  now_->times = {};
  now_->depth = 0;
  now_->computes = std::this_thread::get_id();
  now_->times.step.begin_ns = now_->times.busy.begin_ns = Trace::now_ns();
}

void OverlapRecorder::begin_compute() {
  const std::lock_guard lock(now_->mutex);
  now_->computes = std::this_thread::get_id();
  now_->times.busy.begin_ns = Trace::now_ns();
  if (now_->times.step.begin_ns == 0) now_->times.step.begin_ns = now_->times.busy.begin_ns;
}

void OverlapRecorder::end_step() {
  {
    const std::lock_guard lock(now_->mutex);
    const std::int64_t end = Trace::now_ns();
    OverlapTimes& times = now_->times;
    times.step.end_ns = times.busy.end_ns = end;
    for (const auto& [id, begin] : now_->under_way) times.calls.push_back({begin, end});
    steps_.push_back(account_of(times));
  }
  begin_step();
}

void OverlapRecorder::before_call(const CommunicationInfo& call) {
  const std::lock_guard lock(now_->mutex);
  now_->under_way[call.id] = call.asked_ns;
  if (now_->computes_here() && now_->depth == 0) {  // not of an algorithm's own
    now_->times.buckets.push_back(
        {.id = call.id,
         .label = std::string(call.label.empty() ? call.call : call.label),
         .asked_ns = call.asked_ns});
  }
  now_->begin_wait(call.id);
}

void OverlapRecorder::after_call(const CommunicationInfo&) {
  const std::lock_guard lock(now_->mutex);
  now_->end_wait();
}

void OverlapRecorder::complete(const CommunicationInfo& call) {
  const std::lock_guard lock(now_->mutex);
  now_->times.calls.push_back({call.begun_ns, call.ended_ns});
  now_->under_way.erase(call.id);
  if (BucketTimes* one = now_->bucket(call.id)) {
    one->begun_ns = call.begun_ns;
    one->ended_ns = call.ended_ns;
  }
}

void OverlapRecorder::before_wait(const CommunicationInfo& call) {
  const std::lock_guard lock(now_->mutex);
  now_->begin_wait(call.id);
}

void OverlapRecorder::after_wait(const CommunicationInfo&) {
  const std::lock_guard lock(now_->mutex);
  now_->end_wait();
}

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
