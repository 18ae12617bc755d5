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

/// A rank's time in a step, split by whether it computes and whether communication is in flight.
/// The parts sum to the step, which begins at the end of the previous one or at the start of the
/// epoch.
/// Units: s.
struct StepParts {
  double compute = 0;     ///< computation without communication
  double overlapped = 0;  ///< computation during communication
  double exposed = 0;     ///< waiting for a call
  double idle = 0;        ///< neither: waiting for its batch
  [[nodiscard]] double step() const { return compute + overlapped + exposed + idle; }
};

/// `busy` is the time in the optimizer's step. `calls` may overlap each other; `waits` are sorted
/// and do not overlap, as on one thread.
[[nodiscard]] StepParts parts_of(const TimeRange& step, const TimeRange& busy,
                                 std::vector<TimeRange> calls, const std::vector<TimeRange>& waits);

/// Computes `parts_of` for each step. A call is in flight until this rank learns that it is
/// complete, or until the end time from its transport.
class StepClock : public TrainingEvent, public CommunicationEvent {
 public:
  // Called by training events, or directly to mark steps.
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
  /// Called once per step.
  virtual void stepped(const StepParts& parts, const TimeRange& step) = 0;
  /// Called for each call of the training thread, except those inside an algorithm.
  virtual void asked(const CommunicationInfo& call) { (void)call; }
  /// Called after each of its waits, with the call waited for; for calls inside an algorithm the
  /// outer one.
  virtual void waited(std::uint64_t id, const TimeRange& wait) { (void)id, (void)wait; }
  /// Called when a call of any thread is complete.
  virtual void completed(const CommunicationInfo& call) { (void)call; }

 private:
  void restart();
  /// Begins a wait or call on the training thread; a nested one is part of the outer one.
  void begin_wait(std::uint64_t id);
  void end_wait();

  std::int64_t step_begin_ns_ = 0, busy_begin_ns_ = 0, wait_begin_ns_ = 0;
  std::uint64_t waits_for_ = 0;
  std::mutex mutex_;        // events may also come from a progress thread
  std::thread::id trains_;  // the training thread; calls of other threads are not waits
  int depth_ = 0;           // nesting of waits
  std::map<std::uint64_t, std::int64_t> under_way_;  // begin, by id
  std::vector<TimeRange> calls_, waits_;
};

}  // namespace d5::detail
