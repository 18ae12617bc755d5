// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace d5::detail {

/// Where the system says what its scheduler does.
struct SchedulerFiles {
  std::string tasks = "/proc/self/task";        ///< a folder a thread, with schedstat and status
  std::string pressure = "/proc/pressure/cpu";  ///< of all processes (PSI)
};

/// What the scheduler has said at one moment.
///
/// Source: Linux, Documentation/scheduler/sched-stats.rst and accounting/psi.rst.
struct SchedulerReading {
  struct Thread {
    double waited_seconds = 0;     ///< ready to compute, and without a processor
    std::int64_t turns = 0;        ///< on a processor
    std::int64_t preemptions = 0;  ///< turns that ended against its will
  };
  /// The first of these that the system tells.
  enum class Tells { waits, pressure, preemptions, nothing };

  double at_seconds = 0;
  Tells tells = Tells::nothing;
  std::map<int, Thread> threads = {};  ///< of this process, by their numbers
  double pressure_seconds = 0;         ///< in which anything on this machine waited
};
[[nodiscard]] SchedulerReading read_scheduler(const SchedulerFiles& files = {});

/// How long threads of this process were ready to compute and had no processor.
struct WaitedTime {
  SchedulerReading::Tells tells = SchedulerReading::Tells::nothing;
  double wall_seconds = 0;
  double waited_seconds = 0;  ///< of all threads together
  [[nodiscard]] double share() const {
    return wall_seconds > 0 ? waited_seconds / wall_seconds : 0;
  }
};
[[nodiscard]] WaitedTime waited_between(const SchedulerReading& begin, const SchedulerReading& end);
/// What to say of a system that tells no waits; empty where it does.
[[nodiscard]] std::string absence_of_waits(SchedulerReading::Tells tells);

/// Adds up how long this process's threads waited while spans of it lived.
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
