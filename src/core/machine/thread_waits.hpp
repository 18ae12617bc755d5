// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace d5::detail {

/// Files with scheduler statistics.
struct SchedulerFiles {
  std::string tasks = "/proc/self/task";  ///< one folder per thread, with schedstat and status
  std::string pressure = "/proc/pressure/cpu";  ///< pressure of all processes (PSI)
};

/// Scheduler statistics at one moment.
///
/// Source: Linux, Documentation/scheduler/sched-stats.rst and accounting/psi.rst.
struct SchedulerReading {
  struct Thread {
    double waited_seconds = 0;     ///< ready to run, without a processor
    std::int64_t turns = 0;        ///< turns on a processor
    std::int64_t preemptions = 0;  ///< turns that ended by preemption
  };
  /// The first of these that the system provides.
  enum class Tells { waits, pressure, preemptions, nothing };

  double at_seconds = 0;
  Tells tells = Tells::nothing;
  std::map<int, Thread> threads = {};  ///< this process's threads, by number
  double pressure_seconds = 0;         ///< time in which any task on this machine waited
};
[[nodiscard]] SchedulerReading read_scheduler(const SchedulerFiles& files = {});

/// Time in which threads of this process were ready to run and had no processor.
struct WaitedTime {
  SchedulerReading::Tells tells = SchedulerReading::Tells::nothing;
  double wall_seconds = 0;
  double waited_seconds = 0;  ///< sum over all threads
  [[nodiscard]] double share() const {
    return wall_seconds > 0 ? waited_seconds / wall_seconds : 0;
  }
};
[[nodiscard]] WaitedTime waited_between(const SchedulerReading& begin, const SchedulerReading& end);
/// Message for a system that does not provide waits; empty if it does.
[[nodiscard]] std::string absence_of_waits(SchedulerReading::Tells tells);

/// Sums the waits of this process's threads over its living spans.
class ThreadWaits {
 public:
  class Span {
   public:
    explicit Span(ThreadWaits& waits) : waits_(waits) {}
    ~Span();
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;

   private:
    ThreadWaits& waits_;
    SchedulerReading begin_ = read_scheduler();
  };
  [[nodiscard]] const WaitedTime& sum() const { return sum_; }

 private:
  WaitedTime sum_;
};

}  // namespace d5::detail
