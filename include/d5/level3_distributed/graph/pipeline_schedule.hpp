// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "d5/core/entries/entry.hpp"
#include "d5/core/entries/registry.hpp"

namespace d5 {

/// What a stage does with one micro-batch.
struct PipelineTask {
  enum class Pass { forward, backward };
  Pass pass = Pass::forward;
  int micro_batch = 0;

  bool operator==(const PipelineTask&) const = default;
};

/// In which order the stages of a pipeline run micro-batches forward and backward.
class PipelineSchedule {
 public:
  virtual ~PipelineSchedule() = default;
  /// Of one stage: each micro-batch once forward and then once backward. Stages run micro-batches
  /// of one pass in the same order.
  [[nodiscard]] virtual std::vector<PipelineTask> tasks(int stage, int stages,
                                                        int micro_batches) const = 0;
};

using PipelineScheduleEntry = Entry<std::shared_ptr<PipelineSchedule>()>;
/// gpipe, 1f1b, and a user's.
[[nodiscard]] Registry<PipelineScheduleEntry>& pipeline_schedules();

/// A schedule tried without running anything, where each task takes one unit of time and messages
/// none.
struct PipelineTrial {
  std::int64_t time = 0;            ///< until the last stage is done
  double bubble = 0;                ///< the share of it in which a stage waits
  std::vector<int> most_in_flight;  ///< by stage: micro-batches that ran forward and not backward
};

/// Throws: ValueError for stages or micro-batches below 1, for a stage that leaves a task out or
/// runs one twice or backward first, and for stages that wait for each other for ever.
[[nodiscard]] PipelineTrial try_schedule(const PipelineSchedule& schedule, int stages,
                                         int micro_batches);

}  // namespace d5
