// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "d5/core/results/condition.hpp"

namespace d5 {

/// The clock of a load generator, which reads it and waits by it. Tests replace it by a manual one.
class LoadClock {
 public:
  virtual ~LoadClock() = default;
  /// The time in ns on the monotonic clock.
  [[nodiscard]] virtual std::int64_t now() = 0;
  /// Returns at `until`, or earlier if `wake` was called since the last return.
  virtual void wait_until(std::int64_t until) = 0;
  /// Ends the present or next wait. Thread safety: any thread.
  virtual void wake() = 0;
  /// Conditions of records: waiting "spins 50 us", timer_slack "1 ns".
  [[nodiscard]] virtual Conditions conditions() const = 0;
};

struct LoadClockOptions {
  /// Length of the spinning at the end of a wait. Waking a thread takes some 50 us; longer spinning
  /// takes a core from the system.
  std::int64_t spin_ns = 50'000;
  /// Timer slack: the kernel may end a sleep that much late (PR_SET_TIMERSLACK). Linux's default of
  /// 50 us would delay queries. It applies to the calling thread during the clock's lifetime.
  std::int64_t slack_ns = 1;
};

/// The machine's clock, `Trace::now_ns`. Only one thread may wait.
[[nodiscard]] std::shared_ptr<LoadClock> monotonic_load_clock(const LoadClockOptions& options = {});

}  // namespace d5
