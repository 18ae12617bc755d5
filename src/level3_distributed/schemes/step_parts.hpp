// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "d5/level2_training/training/training_event.hpp"
#include "d5/level3_distributed/communicator/communication_event.hpp"

namespace d5::detail {

/// [begin, end) on the clock of `Trace::now_ns`.
struct TimeRange {
  std::int64_t begin_ns = 0, end_ns = 0;
};

/// What a rank does in a step, by whether it computes and whether calls of its communicator are
/// under way. Units: seconds; they sum to the step, which begins where the one before ended, or
/// where the epoch began.
struct StepParts {
  double compute = 0;     ///< it computes, and nothing is under way
  double overlapped = 0;  ///< both
  double exposed = 0;     ///< it waits for a call
  double idle = 0;        ///< neither: it waits for its batch
  [[nodiscard]] double step() const { return compute + overlapped + exposed + idle; }
};

/// `busy` is the time in the optimizer's step. `calls` may overlap each other; `waits` do not, and
/// are in their order, as on one thread.
[[nodiscard]] StepParts parts_of(const TimeRange& step, const TimeRange& busy,
                                 std::vector<TimeRange> calls, const std::vector<TimeRange>& waits);

/// Tells `parts_of` each step. A call is under way until this rank learns that it is complete, or
/// until its transport says that it was: without a thread that moves calls on, nobody knows better.
class StepClock : public TrainingEvent, public CommunicationEvent {
 public:
  // What training tells; others mark their steps by these.
  void begin_step();
  void begin_compute();
  void end_step();

  void before_epoch(Trainer& trainer, std::int64_t epoch) override;
  void before_batch(Trainer& trainer, const Batch& batch) override;
  void after_batch(Trainer& trainer, const Batch& batch, const ValueMap& outputs) override;
  void after_test(Trainer& trainer) override;
  void before_call(const CommunicationInfo& call) override;
  void after_call(const CommunicationInfo& call) override;
  void complete(const CommunicationInfo& call) override;
  void before_wait(const CommunicationInfo& call) override;
  void after_wait(const CommunicationInfo& call) override;

 protected:
  /// Called once a step.
  virtual void stepped(const StepParts& parts, const TimeRange& step) = 0;
  /// Called for each call that the training thread asks for; not for those of an algorithm's own.
  virtual void asked(const CommunicationInfo& call) { (void)call; }
  /// Called after each of its waits, with the call that it was for: for those of an algorithm's own
  /// the outer one.
  virtual void waited(std::uint64_t id, const TimeRange& wait) { (void)id, (void)wait; }
  /// Called when a call of any thread is complete.
  virtual void completed(const CommunicationInfo& call) { (void)call; }

 private:
  void restart();
  /// A wait, or a call on the thread that trains; within another it is part of that.
  void begin_wait(std::uint64_t id);
  void end_wait();

  std::int64_t step_begin_ns_ = 0, busy_begin_ns_ = 0, wait_begin_ns_ = 0;
  std::uint64_t waits_for_ = 0;
  std::mutex mutex_;        // a thread of the communicator's tells, too
  std::thread::id trains_;  // what a thread of the communicator calls is no wait of the rank's
  int depth_ = 0;           // of waits within waits
  std::map<std::uint64_t, std::int64_t> under_way_;  // begin, by id
  std::vector<TimeRange> calls_, waits_;
};

}  // namespace d5::detail
