// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "d5/core/tables/text_table.hpp"
#include "d5/level2_training/training/training_event.hpp"
#include "d5/level3_distributed/communicator/communication_event.hpp"

namespace d5 {

/// One call of a step that the computing thread asked for: mostly a bucket's all-reduce. Times are
/// on the clock of `Trace::now_ns`. A bucket is ready when it is asked for: schemes ask at once.
struct BucketTimes {
  std::uint64_t id = 0;  ///< `CommunicationInfo::id`, which joins it with a trace
  std::string label;     ///< of the call's options, or what it is: "all_reduce"
  std::int64_t asked_ns = 0, begun_ns = 0, ended_ns = 0;
  std::int64_t exposed_ns = 0;  ///< that the computing thread waited for it
};

/// What a rank did in one step. Units: seconds; the four parts sum to the step.
struct StepAccount {
  double compute = 0;        ///< it computed, and nothing was under way
  double overlap = 0;        ///< both
  double communication = 0;  ///< it waited for a call
  double idle = 0;           ///< neither: before its computation began
  std::vector<BucketTimes> buckets = {};
  [[nodiscard]] double step() const { return compute + overlap + communication + idle; }
};

/// When the computing thread did what, in nanoseconds of one clock.
struct OverlapTimes {
  struct Range {
    std::int64_t begin_ns = 0, end_ns = 0;
  };
  Range step;                     ///< from the end of the one before
  Range busy;                     ///< from the first computation to the last, and all waits
  std::vector<Range> calls = {};  ///< while they were under way; may overlap
  std::vector<Range> waits = {};  ///< of the computing thread, in their order, within the step
  std::vector<BucketTimes> buckets = {};
};
[[nodiscard]] StepAccount account_of(const OverlapTimes& times);

/// Cuts each step of this rank, from the events of its communicator.
///
///     auto recorder = std::make_shared<OverlapRecorder>();
///     ranks->events().add(recorder);
///     recorder->begin_step();  recorder->begin_compute();  optimizer->step(batch);
///     recorder->end_step();
///
/// As an observer of training it marks the steps itself.
/// Thread safety: events may come from a thread of the communicator.
class OverlapRecorder final : public TrainingEvent, public CommunicationEvent {
 public:
  OverlapRecorder();
  ~OverlapRecorder() override;
  void begin_step();
  void begin_compute();
  void end_step();
  [[nodiscard]] const std::vector<StepAccount>& steps() const;
  void clear();

  void before_epoch(Trainer&, std::int64_t) override { begin_step(); }
  void before_batch(Trainer&, const Batch&) override { begin_compute(); }
  void after_batch(Trainer&, const Batch&, const ValueMap&) override { end_step(); }
  void after_test(Trainer&) override { begin_step(); }
  void before_call(const CommunicationInfo& call) override;
  void after_call(const CommunicationInfo& call) override;
  void complete(const CommunicationInfo& call) override;
  void before_wait(const CommunicationInfo& call) override;
  void after_wait(const CommunicationInfo& call) override;

 private:
  class Clock;
  std::unique_ptr<Clock> clock_;
};

/// The means over steps, a row; the buckets of the last step, a row each, in ms from its begin.
[[nodiscard]] TextTable account_table(const std::vector<StepAccount>& steps);
[[nodiscard]] TextTable bucket_table(const StepAccount& step, std::int64_t begin_ns);

}  // namespace d5
