// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/graph/pipeline_schedule.hpp"

namespace d5 {

namespace {

/// Simulates stages that run each task as soon as its inputs are there.
class ScheduleTrial {
 public:
  ScheduleTrial(const PipelineSchedule& schedule, int stages, int micro_batches)
      : micro_batches_(micro_batches), result_{.most_in_flight = std::vector<int>(stages, 0)} {
    for (int s = 0; s < stages; ++s) {
      stages_.push_back({.tasks = schedule.tasks(s, stages, micro_batches),
                         .forward = std::vector<std::int64_t>(micro_batches, 0),
                         .backward = std::vector<std::int64_t>(micro_batches, 0)});
      if (stages_.back().tasks.size() != 2 * std::size_t(micro_batches)) {
        throw ValueError(
            fmt::format("stage {} has {} tasks, expected {}: each of {} micro-batches "
                        "forward and backward",
                        s, stages_.back().tasks.size(), 2 * micro_batches, micro_batches));
      }
    }
  }

  PipelineTrial run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t s = 0; s < stages_.size(); ++s) {
        while (advance(s)) moved = true;
      }
    }
    for (std::size_t s = 0; s < stages_.size(); ++s) {
      const Stage& stage = stages_[s];
      result_.time = std::max(result_.time, stage.time);
      if (stage.next == stage.tasks.size()) continue;
      throw ValueError(fmt::format(
          "stage {} waits for ever before its task {}: the stages deadlock", s, stage.next));
    }
    result_.bubble = 1 - 2.0 * micro_batches_ / double(result_.time);
    return result_;
  }

 private:
  struct Stage {
    std::vector<PipelineTask> tasks;
    std::vector<std::int64_t> forward, backward;  // end times; 0: not yet
    std::size_t next = 0;
    std::int64_t time = 0;
    int in_flight = 0;
  };

  /// Whether the stage's next task could run.
  bool advance(std::size_t s) {
    Stage& stage = stages_[s];
    if (stage.next == stage.tasks.size()) return false;
    const PipelineTask task = stage.tasks[stage.next];
    if (task.micro_batch < 0 || task.micro_batch >= micro_batches_)
      refuse(s, "has an unknown micro-batch");
    const auto i = std::size_t(task.micro_batch);
    const bool forward = task.pass == PipelineTask::Pass::forward;
    std::int64_t& done = forward ? stage.forward[i] : stage.backward[i];
    if (done > 0) refuse(s, "is listed twice");
    if (!forward && stage.forward[i] == 0) refuse(s, "goes backward before forward");
    std::int64_t ready = stage.time;
    if (forward ? s > 0 : s + 1 < stages_.size()) {
      const Stage& giver = forward ? stages_[s - 1] : stages_[s + 1];
      const std::int64_t given = forward ? giver.forward[i] : giver.backward[i];
      if (given == 0) return false;
      ready = std::max(ready, given);
    }
    done = stage.time = ready + 1;
    stage.in_flight += forward ? 1 : -1;
    result_.most_in_flight[s] = std::max(result_.most_in_flight[s], stage.in_flight);
    ++stage.next;
    return true;
  }
  [[noreturn]] void refuse(std::size_t s, std::string_view why) const {
    throw ValueError(fmt::format("stage {}: task {} {}", s, stages_[s].next, why));
  }

  int micro_batches_;
  std::vector<Stage> stages_;
  PipelineTrial result_;
};

}  // namespace

PipelineTrial try_schedule(const PipelineSchedule& schedule, int stages, int micro_batches) {
  if (stages < 1 || micro_batches < 1) {
    throw ValueError(fmt::format("a pipeline of {} stages and {} micro-batches, expected 1 or more",
                                 stages, micro_batches));
  }
  return ScheduleTrial(schedule, stages, micro_batches).run();
}

}  // namespace d5
