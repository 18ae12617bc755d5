// SPDX-License-Identifier: Apache-2.0
#include "prediction/simulation/fiber_scheduler.hpp"

#include <algorithm>
#include <utility>

namespace d5::detail {

FiberScheduler::Strand& FiberScheduler::spawn(int rank, std::function<void()> body, double time) {
  auto strand = std::make_unique<Strand>(Strand{.rank = rank, .time = time});
  strand->fiber = std::make_unique<Fiber>(
      [this, body = std::move(body)] {
        try {
          if (!stopping_) body();
        } catch (const SimulationStopped&) {  // the reason is already stored
        } catch (...) {
          if (!error_) error_ = std::current_exception();
        }
      },
      stack_bytes_);
  strands_.push_back(std::move(strand));
  ++running_;
  make_ready(*strands_.back());
  return *strands_.back();
}

void FiberScheduler::make_ready(Strand& strand) { ready_.add(strand.time, &strand); }

void FiberScheduler::wake(Strand& strand, double time) {
  if (!std::exchange(strand.waits, false)) return;
  strand.time = std::max(strand.time, time);
  make_ready(strand);
}

void FiberScheduler::run(TimedChanges& changes, const std::function<void()>& deadlock,
                         const std::function<bool()>& is_over) {
  // Checks more often with many strands, because a turn of all takes long.
  constexpr std::int64_t kMostBetween = 1024, kOfAll = std::int64_t{1} << 20;
  const auto strands = static_cast<std::int64_t>(strands_.size());
  const std::int64_t between = std::clamp(kOfAll / (strands + 1), std::int64_t{1}, kMostBetween);
  changes_ = &changes;
  while (running_ > 0 && !error_) {
    if (switches_ % between == 0 && is_over()) break;
    if (changes.advance(earliest())) continue;
    if (ready_.empty()) {
      try {
        deadlock();
      } catch (...) {
        error_ = std::current_exception();
      }
      break;
    }
    Strand& next = *ready_.take();
    current_ = &next;
    ++switches_;
    next.fiber->resume();
    if (next.fiber->ended()) --running_;
  }
  unwind();
  if (error_) std::rethrow_exception(error_);
}

void FiberScheduler::unwind() {
  stopping_ = true;
  for (const auto& strand : strands_) {
    current_ = strand.get();
    while (!strand->fiber->ended()) strand->fiber->resume();
  }
  current_ = nullptr;
}

void FiberScheduler::leave() {
  current_->fiber->suspend();
  if (stopping_) throw SimulationStopped{};
}

void FiberScheduler::catch_up() {
  if (stopping_) throw SimulationStopped{};
  // Messages arrive without a switch as long as no other strand is earlier.
  while (current_->time <= earliest()) {
    if (!changes_->advance(current_->time)) return;
  }
  make_ready(*current_);
  leave();
}

void FiberScheduler::wait() {
  if (stopping_) throw SimulationStopped{};
  current_->waits = true;
  leave();
}

}  // namespace d5::detail
