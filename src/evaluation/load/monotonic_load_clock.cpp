// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/prctl.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "d5/core/errors/error.hpp"
#include "d5/core/trace/trace.hpp"
#include "d5/evaluation/load/load_clock.hpp"

namespace d5 {
namespace {

using SteadyClock = std::chrono::steady_clock;
using SteadyTime = std::chrono::time_point<SteadyClock, std::chrono::nanoseconds>;

class MonotonicLoadClock final : public LoadClock {
 public:
  explicit MonotonicLoadClock(const LoadClockOptions& options) : options_(options) {
    if (options.spin_ns < 0 || options.slack_ns < 1) {
      throw ValueError(
          fmt::format("load clock: spin is {} ns and slack {} ns, expected 0 or more and 1 or more",
                      options.spin_ns, options.slack_ns));
    }
    slack_before_ = prctl(PR_GET_TIMERSLACK);
    prctl(PR_SET_TIMERSLACK, options.slack_ns);
    slack_ = prctl(PR_GET_TIMERSLACK);
  }
  ~MonotonicLoadClock() override { prctl(PR_SET_TIMERSLACK, slack_before_); }
  MonotonicLoadClock(const MonotonicLoadClock&) = delete;
  MonotonicLoadClock& operator=(const MonotonicLoadClock&) = delete;

  std::int64_t now() override { return Trace::now_ns(); }

  void wait_until(std::int64_t until) override {
    const std::int64_t end_of_sleep = until - options_.spin_ns;
    if (now() < end_of_sleep) {
      std::unique_lock lock(mutex_);
      asleep_ = true;
      const SteadyTime end{std::chrono::nanoseconds(end_of_sleep)};
      while (!woken_ && wakes_.wait_until(lock, end) != std::cv_status::timeout) {
      }
      asleep_ = false;
    }
    while (!woken_.exchange(false) && now() < until) {
    }
  }

  void wake() override {
    // Either the sleeper sees `woken_` before it sleeps, or this sees that it does.
    woken_ = true;
    if (!asleep_) return;
    const std::lock_guard lock(mutex_);
    wakes_.notify_one();
  }

  Conditions conditions() const override {
    return {{"timer_slack", setting(double(slack_) / 1e9, "s")},
            {"waiting", setting(fmt::format("spins {} us", double(options_.spin_ns) / 1000))}};
  }

 private:
  LoadClockOptions options_;
  int slack_before_ = 0, slack_ = 0;
  std::atomic<bool> woken_ = false, asleep_ = false;
  std::mutex mutex_;
  std::condition_variable wakes_;
};

}  // namespace

std::shared_ptr<LoadClock> monotonic_load_clock(const LoadClockOptions& options) {
  return std::make_shared<MonotonicLoadClock>(options);
}

}  // namespace d5
