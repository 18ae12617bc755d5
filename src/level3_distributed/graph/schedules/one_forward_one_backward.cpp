// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "d5/level3_distributed/graph/pipeline_schedule.hpp"

namespace d5::pipeline_schedule {
namespace {

/// Each stage fills the stages behind it, then alternates one backward and one forward. It stores
/// at most as many micro-batches as there are stages from it to the last.
class OneForwardOneBackward final : public PipelineSchedule {
 public:
  [[nodiscard]] std::vector<PipelineTask> tasks(int stage, int stages,
                                                int micro_batches) const override {
    const int first = std::min(micro_batches, stages - 1 - stage);
    std::vector<PipelineTask> tasks;
    for (int i = 0; i < first; ++i) tasks.push_back({PipelineTask::Pass::forward, i});
    for (int i = first; i < micro_batches; ++i) {
      tasks.push_back({PipelineTask::Pass::forward, i});
      tasks.push_back({PipelineTask::Pass::backward, i - first});
    }
    for (int i = micro_batches - first; i < micro_batches; ++i) {
      tasks.push_back({PipelineTask::Pass::backward, i});
    }
    return tasks;
  }
};

}  // namespace

void register_one_forward_one_backward(Registry<PipelineScheduleEntry>& registry) {
  registry.add("1f1b", PipelineScheduleEntry::of<OneForwardOneBackward>(
                           "one forward, one backward once the pipeline is full (PipeDream, "
                           "Narayanan et al., 2019)"));
}

}  // namespace d5::pipeline_schedule
