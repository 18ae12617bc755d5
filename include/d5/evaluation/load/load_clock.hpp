// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "d5/core/results/condition.hpp"

namespace d5 {

/// The clock that a generator of load asks and waits by. A test brings one that stands still.
class LoadClock {
 public:
  virtual ~LoadClock() = default;
  /// ns on the monotonic clock.
  [[nodiscard]] virtual std::int64_t now() = 0;
  /// Returns at `until`, or earlier: once `wake` was called after the last return.
  virtual void wait_until(std::int64_t until) = 0;
  /// From any thread.
  virtual void wake() = 0;
  /// How it waits, for records: waiting "spins 50 us", timer_slack "1 ns".
  [[nodiscard]] virtual Conditions conditions() const = 0;
};

struct LoadClockOptions {
  /// How long before the moment sleep turns into looking at the clock. Waking a thread takes some
  /// 50 us; longer spinning takes a core from the system.
  std::int64_t spin_ns = 50'000;
  /// How much later than asked the kernel may end a sleep (PR_SET_TIMERSLACK): 50 us by default,
  /// which would be lag of the load. It holds for the calling thread until the clock ends.
  std::int64_t slack_ns = 1;
};

/// The machine's, `Trace::now_ns`. One thread waits.
[[nodiscard]] std::shared_ptr<LoadClock> monotonic_load_clock(const LoadClockOptions& options = {});

}  // namespace d5
