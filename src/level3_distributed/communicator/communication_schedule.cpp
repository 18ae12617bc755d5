// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/communication_schedule.hpp"

#include <algorithm>

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

class ScheduledRequest final : public Request {
 public:
  ScheduledRequest(SchedulesUnderWay& all, CommunicationSchedule schedule)
      : all_(all), schedule_(std::move(schedule)) {
    const auto lock = all_.lock();
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

  /// Keeps what it throws for whoever asks this request.
  bool advance() noexcept {
    try {
      complete_ = complete_ || schedule_.advance();
    } catch (...) {
      error_ = std::current_exception();
      complete_ = true;
    }
    return complete_;
  }

 private:
  void complete() {
    for (Patience patience(Patience::kOfWork); !moved_on();) patience.pause();
  }
  bool moved_on() {
    const auto lock = all_.lock();
    if (complete_) return true;
    if (all_.only(this)) {  // the transport waits better than we do
      try {
        schedule_.wait_for_calls();
      } catch (...) {
        error_ = std::current_exception();
        complete_ = true;
      }
      if (advance()) all_.remove(this);
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
  std::exception_ptr error_;
  int exceptions_ = std::uncaught_exceptions();
  bool complete_ = false;
};

void SchedulesUnderWay::add(ScheduledRequest* request) {
  all_.push_back(request);
  if (added_) added_();
}

void SchedulesUnderWay::remove(const ScheduledRequest* request) {
  std::ranges::replace(all_, const_cast<ScheduledRequest*>(request), nullptr);
  if (!advancing_) std::erase(all_, nullptr);
}

void SchedulesUnderWay::advance() {
  if (advancing_) return;
  advancing_ = true;
  for (std::size_t i = 0; i < all_.size(); ++i) {  // they may add others
    ScheduledRequest* request = all_[i];
    if (request && request->advance()) all_[i] = nullptr;
  }
  advancing_ = false;
  std::erase(all_, nullptr);
}

}  // namespace detail

std::unique_ptr<Request> run_schedule(Communicator& ranks, CommunicationSchedule schedule) {
  return ranks.observe_schedule([&]() -> std::unique_ptr<Request> {
    return std::make_unique<detail::ScheduledRequest>(ranks.schedules(), std::move(schedule));
  });
}

}  // namespace d5
