// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/communicator/communication_schedule.hpp"

#include <algorithm>
#include <atomic>

#include "d5/core/trace/trace.hpp"
#include "level3_distributed/communicator/patience.hpp"
#include "level3_distributed/communicator/schedules_under_way.hpp"

namespace d5 {

bool CommunicationSchedule::Sleep::await_ready() const {
  return std::ranges::all_of(calls_, [](const auto& call) { return call->done(); });
}

void CommunicationSchedule::Sleep::await_suspend(Handle handle) const noexcept {
  handle.promise().calls = calls_;
}

bool CommunicationSchedule::advance() {
  while (!handle_.done()) {
    const auto& calls = handle_.promise().calls;
    if (!std::ranges::all_of(calls, [](const auto& call) { return call->done(); })) return false;
    handle_.resume();
  }
  if (auto error = std::exchange(handle_.promise().error, nullptr)) std::rethrow_exception(error);
  return true;
}

void CommunicationSchedule::wait_for_calls() {
  if (handle_.done()) return;
  for (const auto& call : handle_.promise().calls) call->wait();
}

namespace detail {

/// The resources in `options` that a schedule uses.
UsedResources heeded(const CallOptions& options, bool has_thread, const ScheduleFacts& facts) {
  const CommunicationResources& asked = options.resources;
  UsedResources used;
  if (facts.ignores_resources) return ignore_all(asked, "this algorithm takes none");
  used.resources.waiting = asked.waiting;
  used.resources.poll_interval = asked.poll_interval;
  used.resources.chunk_bytes = facts.chunk_bytes;
  const int threads = asked.threads.value_or(has_thread ? 1 : 0);
  used.resources.threads = has_thread ? std::min(threads, 1) : 0;
  CommunicationResources ignored;
  if (asked.threads && *asked.threads != *used.resources.threads) ignored.threads = asked.threads;
  if (!facts.chunk_bytes) ignored.chunk_bytes = asked.chunk_bytes;
  if (*used.resources.threads > 0) {
    used.resources.cores = asked.cores;
  } else {
    ignored.cores = asked.cores;
  }
  used.ignored =
      ignore_all(ignored,
                 has_thread ? "a single thread moves messages, with the algorithm's own chunk size"
                            : "no ProgressThread is around these ranks")
          .ignored;
  return used;
}

class ScheduledRequest final : public Request {
 public:
  ScheduledRequest(SchedulesUnderWay& all, CommunicationSchedule schedule,
                   std::shared_ptr<const CallOptions> options, const ScheduleFacts& facts)
      : all_(all), schedule_(std::move(schedule)), options_(std::move(options)) {
    const auto lock = all_.lock();
    if (options_) used_ = heeded(*options_, all_.has_thread(), facts);
    if (!advance()) all_.add(this);
  }
  ~ScheduledRequest() override {
    if (std::uncaught_exceptions() == exceptions_) complete();
    const auto lock = all_.lock();
    all_.remove(this);
  }

  void wait() override {
    complete();
    rethrow();
  }

  bool done() override {
    const auto lock = all_.lock();
    if (!complete_) all_.advance();
    if (complete_) rethrow();
    return complete_;
  }

  std::optional<UsedResources> used() const override { return used_; }
  Times times() const override { return {begun_ns_, ended_ns_.load(std::memory_order_acquire)}; }

  [[nodiscard]] int priority() const { return options_ ? options_->priority : 0; }
  [[nodiscard]] const std::shared_ptr<const CallOptions>& options() const { return options_; }
  /// Whether the owner progresses it instead of a progress thread.
  [[nodiscard]] bool is_owners() const { return used_ && used_->resources.threads == 0; }

  /// Stores an exception for the waits on this request.
  bool advance() noexcept {
    if (is_advanced_) return false;  // by another strand of a simulation
    is_advanced_ = true;
    try {
      complete_ = complete_ || schedule_.advance();
    } catch (...) {
      error_ = std::current_exception();
      complete_ = true;
    }
    is_advanced_ = false;
    if (complete_ && ended_ns_ == 0) ended_ns_ = Trace::now_ns();
    return complete_;
  }

 private:
  void complete() {
    if (options_) {
      for (PollPause pause(options_->resources); !moved_on();) pause.pause();
    } else {
      for (Patience patience(Patience::kOfWork); !moved_on();) patience.pause();
    }
  }
  bool moved_on() {
    const auto lock = all_.lock();
    if (complete_) return true;
    if (!options_ && all_.only(this)) {  // the transport's own wait is better
      try {
        schedule_.wait_for_calls();
      } catch (...) {
        error_ = std::current_exception();
        complete_ = true;
      }
      if (advance()) all_.remove(this);
    } else if (all_.advancing()) {  // a schedule waits for this one while it is advanced
      (void)advance();
    } else {
      all_.advance();
    }
    return complete_;
  }
  void rethrow() {
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  }

  SchedulesUnderWay& all_;
  CommunicationSchedule schedule_;
  std::shared_ptr<const CallOptions> options_;  // null: none
  std::optional<UsedResources> used_;
  std::int64_t begun_ns_ = Trace::now_ns();
  std::atomic<std::int64_t> ended_ns_ = 0;
  std::exception_ptr error_;
  int exceptions_ = std::uncaught_exceptions();
  bool complete_ = false, is_advanced_ = false;
};

void SchedulesUnderWay::add(ScheduledRequest* request) {
  if (advancing_) {  // by index, because the list must not change
    all_.push_back(request);
  } else {
    const auto first_lower = std::ranges::find_if(all_, [&](const ScheduledRequest* other) {
      return other && other->priority() < request->priority();
    });
    all_.insert(first_lower, request);
  }
  if (added_) added_();
}

void SchedulesUnderWay::remove(const ScheduledRequest* request) {
  std::ranges::replace(all_, const_cast<ScheduledRequest*>(request), nullptr);
  if (!advancing_) std::erase(all_, nullptr);
}

bool SchedulesUnderWay::empty_for_thread() const {
  return std::ranges::all_of(
      all_, [](const ScheduledRequest* request) { return !request || request->is_owners(); });
}

std::shared_ptr<const CallOptions> SchedulesUnderWay::options_for_thread() const {
  for (const ScheduledRequest* request : all_) {
    if (request && !request->is_owners()) return request->options();
  }
  return nullptr;
}

void SchedulesUnderWay::advance(By by) {
  if (advancing_) return;
  advancing_ = true;
  for (std::size_t i = 0; i < all_.size(); ++i) {  // schedules may add others
    ScheduledRequest* request = all_[i];
    if (!request || (by == By::thread && request->is_owners())) continue;
    if (request->advance()) all_[i] = nullptr;
  }
  advancing_ = false;
  std::erase(all_, nullptr);
}

}  // namespace detail

std::unique_ptr<Request> run_schedule(Communicator& ranks, CommunicationSchedule schedule,
                                      const ScheduleFacts& facts) {
  return ranks.observe_schedule([&]() -> std::unique_ptr<Request> {
    const auto options = ranks.options();
    // Its own calls have no options: some start now and others later.
    return ranks.with(nullptr, [&] {
      return std::make_unique<detail::ScheduledRequest>(ranks.schedules(), std::move(schedule),
                                                        options, facts);
    });
  });
}

}  // namespace d5
