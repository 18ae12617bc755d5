// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "d5/core/entries/entry.hpp"
#include "d5/core/entries/registry.hpp"

namespace d5 {

/// One pass of one micro-batch through a stage.
struct PipelineTask {
  enum class Pass { forward, backward };
  Pass pass = Pass::forward;
  int micro_batch = 0;

  bool operator==(const PipelineTask&) const = default;
};

/// The order in which the stages of a pipeline run micro-batches forward and backward.
class PipelineSchedule {
 public:
  virtual ~PipelineSchedule() = default;
  /// The tasks of one stage: each micro-batch once forward and later once backward. All stages run
  /// the micro-batches of one pass in the same order.
  [[nodiscard]] virtual std::vector<PipelineTask> tasks(int stage, int stages,
                                                        int micro_batches) const = 0;
};

using PipelineScheduleEntry = Entry<std::shared_ptr<PipelineSchedule>()>;
/// All schedules by name: gpipe, 1f1b, and user-defined ones.
[[nodiscard]] Registry<PipelineScheduleEntry>& pipeline_schedules();

/// A schedule simulated with one unit of time per task and free messages.
struct PipelineTrial {
  std::int64_t time = 0;            ///< makespan
  double bubble = 0;                ///< share of `time` in which a stage waits
  std::vector<int> most_in_flight;  ///< by stage: micro-batches with pending backward
};

/// Simulates a schedule.
/// Throws: ValueError for stages or micro-batches below 1, for a stage that omits or repeats a task
/// or runs backward first, and for stages that deadlock.
[[nodiscard]] PipelineTrial try_schedule(const PipelineSchedule& schedule, int stages,
                                         int micro_batches);

}  // namespace d5
