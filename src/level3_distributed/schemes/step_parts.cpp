// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/schemes/step_parts.hpp"

#include <algorithm>

#include "d5/core/trace/trace.hpp"

namespace d5::detail {
namespace {

std::int64_t common(const TimeRange& a, const TimeRange& b) {
  return std::max<std::int64_t>(0, std::min(a.end_ns, b.end_ns) - std::max(a.begin_ns, b.begin_ns));
}

std::int64_t common(const TimeRange& range, const std::vector<TimeRange>& apart) {
  std::int64_t sum = 0;
  for (const TimeRange& one : apart) sum += common(range, one);
  return sum;
}

/// The union of the ranges, sorted.
std::vector<TimeRange> joined(std::vector<TimeRange> ranges) {
  std::ranges::sort(ranges, {}, &TimeRange::begin_ns);
  std::vector<TimeRange> apart;
  for (const TimeRange& range : ranges) {
    if (!apart.empty() && range.begin_ns <= apart.back().end_ns) {
      apart.back().end_ns = std::max(apart.back().end_ns, range.end_ns);
    } else {
      apart.push_back(range);
    }
  }
  return apart;
}

}  // namespace

StepParts parts_of(const TimeRange& step, const TimeRange& busy, std::vector<TimeRange> calls,
                   const std::vector<TimeRange>& waits) {
  const std::int64_t all = step.end_ns - step.begin_ns, in_optimizer = busy.end_ns - busy.begin_ns;
  const std::int64_t waited = common(step, waits), waited_in_it = common(busy, waits);
  std::int64_t overlapped = 0;
  for (const TimeRange& call : joined(std::move(calls))) {
    const TimeRange part{std::max(call.begin_ns, busy.begin_ns),
                         std::min(call.end_ns, busy.end_ns)};
    if (part.begin_ns >= part.end_ns) continue;
    overlapped += part.end_ns - part.begin_ns - common(part, waits);
  }
  const auto seconds = [](std::int64_t ns) { return static_cast<double>(ns) * 1e-9; };
  return {.compute = seconds(in_optimizer - waited_in_it - overlapped),
          .overlapped = seconds(overlapped),
          .exposed = seconds(waited),
          .idle = seconds(all - in_optimizer - (waited - waited_in_it))};
}

void StepClock::restart() {
  step_begin_ns_ = Trace::now_ns();
  calls_.clear();
  waits_.clear();
}

void StepClock::begin_step() {
  const std::lock_guard lock(mutex_);
  trains_ = std::this_thread::get_id();
  restart();
  busy_begin_ns_ = step_begin_ns_;
}

void StepClock::begin_compute() {
  const std::lock_guard lock(mutex_);
  busy_begin_ns_ = Trace::now_ns();
  trains_ = std::this_thread::get_id();
  depth_ = 0;
  if (step_begin_ns_ == 0) step_begin_ns_ = busy_begin_ns_;  // resumed within an epoch
}

void StepClock::end_step() {
  const std::lock_guard lock(mutex_);
  const std::int64_t now = Trace::now_ns();
  const TimeRange step{step_begin_ns_, now};
  for (const auto& [id, begin] : under_way_) calls_.push_back({begin, now});
  stepped(parts_of(step, {busy_begin_ns_, now}, std::move(calls_), waits_), step);
  restart();
}

void StepClock::before_epoch(Trainer&, std::int64_t) { begin_step(); }
void StepClock::after_test(Trainer&) { begin_step(); }
void StepClock::before_batch(Trainer&, const Batch&) { begin_compute(); }
void StepClock::after_batch(Trainer&, const Batch&, const ValueMap&) { end_step(); }

void StepClock::begin_wait(std::uint64_t id) {
  if (std::this_thread::get_id() != trains_ || depth_++ > 0) return;
  wait_begin_ns_ = Trace::now_ns();
  waits_for_ = id;
}

void StepClock::end_wait() {
  if (std::this_thread::get_id() != trains_ || depth_ == 0 || --depth_ > 0) return;
  waits_.push_back({wait_begin_ns_, Trace::now_ns()});
  waited(waits_for_, waits_.back());
}

void StepClock::before_call(const CommunicationInfo& call) {
  const std::lock_guard lock(mutex_);
  under_way_[call.id] = call.asked_ns;
  if (std::this_thread::get_id() == trains_ && depth_ == 0) asked(call);
  begin_wait(call.id);
}
// Counts a blocking call as a wait, and a started one until it returns.
void StepClock::after_call(const CommunicationInfo&) {
  const std::lock_guard lock(mutex_);
  end_wait();
}
void StepClock::complete(const CommunicationInfo& call) {
  const std::lock_guard lock(mutex_);
  calls_.push_back({call.begun_ns, call.ended_ns});
  under_way_.erase(call.id);
  completed(call);
}
void StepClock::before_wait(const CommunicationInfo& call) {
  const std::lock_guard lock(mutex_);
  begin_wait(call.id);
}
void StepClock::after_wait(const CommunicationInfo&) {
  const std::lock_guard lock(mutex_);
  end_wait();
}

}  // namespace d5::detail
