// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/graph/pipeline_schedule.hpp"

namespace d5::pipeline_schedule {
namespace {

/// All micro-batches forward, then all backward: every stage stores the activations of all of them.
class GPipe final : public PipelineSchedule {
 public:
  [[nodiscard]] std::vector<PipelineTask> tasks(int, int, int micro_batches) const override {
    std::vector<PipelineTask> tasks;
    for (const auto pass : {PipelineTask::Pass::forward, PipelineTask::Pass::backward}) {
      for (int i = 0; i < micro_batches; ++i) tasks.push_back({pass, i});
    }
    return tasks;
  }
};

}  // namespace

void register_gpipe(Registry<PipelineScheduleEntry>& registry) {
  registry.add("gpipe",
               PipelineScheduleEntry::of<GPipe>(
                   "all micro-batches forward, then all backward (GPipe, Huang et al., 2019)"));
}

}  // namespace d5::pipeline_schedule
