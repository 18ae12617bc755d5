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

/// Source of changes in virtual time besides fibers, such as arriving messages.
class TimedChanges {
 public:
  virtual ~TimedChanges() = default;
  /// Advances to the first change up to `limit` and wakes the fibers that wait for it. Returns
  /// false if there is none.
  virtual bool advance(double limit) = 0;
};

/// Thrown into waiting fibers after a failure elsewhere, to unwind their stacks. Not a
/// std::exception, so that it is not handled as an error.
struct SimulationStopped {};

/// Schedules fibers in virtual time, the earliest first; among equals the one that was ready first.
///
/// A fiber's clock may run ahead while it computes. Before it observes others it must `catch_up`,
/// so that everything before its time happens.
/// Units: s.
class FiberScheduler {
 public:
  struct Strand {
    int rank = 0;
    double time = 0;          ///< the strand's clock
    bool waits = false;       ///< waits for `wake`
    bool background = false;  ///< its waits alone are not a deadlock
    std::uint64_t seen = 0;   ///< change counter, for waits until a change
    std::unique_ptr<Fiber> fiber = {};
  };

  explicit FiberScheduler(std::size_t stack_bytes) : stack_bytes_(stack_bytes) {}

  /// Adds a strand, ready at `time`. It lives as long as the scheduler.
  Strand& spawn(int rank, std::function<void()> body, double time = 0);
  /// Runs until all have ended, or until `is_over`, which is called periodically, returns true:
  /// then all unwind.
  /// Throws: the first strand's exception after all have unwound; the exception of `deadlock` if
  /// all wait.
  void run(TimedChanges& changes, const std::function<void()>& deadlock,
           const std::function<bool()>& is_over);

  [[nodiscard]] bool is_running() const { return current_ != nullptr; }
  // Functions of the running fiber.
  [[nodiscard]] Strand& current() const { return *current_; }
  /// Throws: SimulationStopped.
  void catch_up();
  /// Suspends the fiber until `wake`. Throws: SimulationStopped.
  void wait();
  [[nodiscard]] bool stopping() const { return stopping_; }

  /// Wakes a strand, at `time` at the earliest; does nothing if it does not wait.
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
  std::size_t running_ = 0;  // strands not ended
  Strand* current_ = nullptr;
  TimedChanges* changes_ = nullptr;
  std::exception_ptr error_;
  bool stopping_ = false;
};

}  // namespace d5::detail
