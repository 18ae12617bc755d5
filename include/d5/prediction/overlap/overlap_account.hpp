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

/// Times of one call in a step, usually a bucket's all-reduce, on the clock of `Trace::now_ns`.
/// `asked_ns` is also the time when the bucket was ready, because schemes start it at once.
struct BucketTimes {
  std::uint64_t id = 0;  ///< `CommunicationInfo::id`, as in a trace
  std::string label;     ///< label of the call's options, or its kind: "all_reduce"
  std::int64_t asked_ns = 0, begun_ns = 0, ended_ns = 0;
  std::int64_t exposed_ns = 0;  ///< time that the computing thread waited for it
};

/// A rank's time in one step, split into four parts that sum to the step. Units: s.
struct StepAccount {
  double compute = 0;        ///< computation without communication in flight
  double overlap = 0;        ///< computation during communication
  double communication = 0;  ///< waiting for a call
  double idle = 0;           ///< neither: before the computation begins
  std::vector<BucketTimes> buckets = {};
  [[nodiscard]] double step() const { return compute + overlap + communication + idle; }
};

/// Activities of the computing thread, in nanoseconds of one clock.
struct OverlapTimes {
  struct Range {
    std::int64_t begin_ns = 0, end_ns = 0;
  };
  Range step;                     ///< begins at the end of the previous step
  Range busy;                     ///< from the first computation to the last, waits included
  std::vector<Range> calls = {};  ///< times in flight; may overlap
  std::vector<Range> waits = {};  ///< waits of the computing thread within the step, in order
  std::vector<BucketTimes> buckets = {};
};
[[nodiscard]] StepAccount account_of(const OverlapTimes& times);

/// Records the account of each step of this rank, from the events of its communicator.
///
///     auto recorder = std::make_shared<OverlapRecorder>();
///     ranks->events().add(recorder);
///     recorder->begin_step();  recorder->begin_compute();  optimizer->step(batch);
///     recorder->end_step();
///
/// It marks the steps by itself as an observer of a training.
/// Thread safety: events may come from the communicator's progress thread.
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

/// A row with the means over steps, and a row for each bucket of the last step, in ms from its
/// begin.
[[nodiscard]] TextTable account_table(const std::vector<StepAccount>& steps);
[[nodiscard]] TextTable bucket_table(const StepAccount& step, std::int64_t begin_ns);

}  // namespace d5
