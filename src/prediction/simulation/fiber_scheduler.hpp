// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "prediction/networks/event_queue.hpp"
#include "prediction/simulation/fiber.hpp"

namespace d5::detail {

/// What changes besides fibers, as virtual time passes: messages arrive.
class TimedChanges {
 public:
  virtual ~TimedChanges() = default;
  /// Goes on to the first change not after `limit`, and wakes who waits for it; false: there is
  /// none.
  virtual bool advance(double limit) = 0;
};

/// Thrown into fibers that wait when the simulation has failed elsewhere: their stacks unwind. No
/// std::exception, so that nobody takes it for an error that may be handled.
struct SimulationStopped {};

/// Fibers in virtual time, the earliest first; of equally early ones the one that was ready first.
///
/// A fiber's own clock may run ahead while it computes. Before it looks at what others did it
/// catches up: all that comes before its time happens.
/// Units: seconds.
class FiberScheduler {
 public:
  struct Strand {
    int rank = 0;
    double time = 0;          ///< its own clock
    bool waits = false;       ///< until `wake`
    bool background = false;  ///< what it waits for is no deadlock by itself
    std::uint64_t seen = 0;   ///< for who waits until something changes
    std::unique_ptr<Fiber> fiber = {};
  };

  explicit FiberScheduler(std::size_t stack_bytes) : stack_bytes_(stack_bytes) {}

  /// Made ready at time `time`. The strand lives as long as the scheduler.
  Strand& spawn(int rank, std::function<void()> body, double time = 0);
  /// Until all have ended, or `is_over`, asked now and then, says so: then all unwind.
  /// Throws: what the first of them threw, when all have unwound; what `deadlock` throws where all
  /// wait.
  void run(TimedChanges& changes, const std::function<void()>& deadlock,
           const std::function<bool()>& is_over);

  [[nodiscard]] bool is_running() const { return current_ != nullptr; }
  // Of the fiber that runs.
  [[nodiscard]] Strand& current() const { return *current_; }
  /// Throws: SimulationStopped.
  void catch_up();
  /// Until it is woken. Throws: SimulationStopped.
  void wait();
  [[nodiscard]] bool stopping() const { return stopping_; }

  /// No sooner than `time`; nothing where it does not wait.
  void wake(Strand& strand, double time);
  [[nodiscard]] const std::vector<std::unique_ptr<Strand>>& strands() const { return strands_; }
  [[nodiscard]] std::int64_t switches() const { return switches_; }

 private:
  void make_ready(Strand& strand);
  void leave();
  [[nodiscard]] double earliest() const {
    return ready_.empty() ? std::numeric_limits<double>::infinity() : ready_.time();
  }
  void unwind();

  std::size_t stack_bytes_;
  std::vector<std::unique_ptr<Strand>> strands_;
  EventQueue<Strand*> ready_;
  std::int64_t switches_ = 0;
  std::size_t running_ = 0;  // not ended
  Strand* current_ = nullptr;
  TimedChanges* changes_ = nullptr;
  std::exception_ptr error_;
  bool stopping_ = false;
};

}  // namespace d5::detail
