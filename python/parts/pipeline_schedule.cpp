// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/graph/pipeline_schedule.hpp"

#include <pybind11/trampoline_self_life_support.h>

#include "answered.hpp"
#include "d5/core/entries/registry.hpp"
#include "long_call.hpp"
#include "part_kind.hpp"

namespace d5::python {
namespace {

constexpr const char* kPipelineScheduleHelp =
    R"(The order in which the stages of a pipeline run micro-batches forward and backward; base class of
schedules in Python.

    class AllForwardFirst(d5.PipelineSchedule):
        def tasks(self, stage, stages, micro_batches):
            return [("forward", m) for m in range(micro_batches)] + \
                   [("backward", m) for m in range(micro_batches)]

The tasks are those of one stage: each micro-batch once forward and later once backward. All stages run the
micro-batches of one pass in the same order.)";

using TaskWords = std::pair<std::string, int>;

class PythonPipelineSchedule final : public PipelineSchedule,
                                     public py::trampoline_self_life_support {
 public:
  [[nodiscard]] std::vector<PipelineTask> tasks(int stage, int stages,
                                                int micro_batches) const override {
    return call_python([&] {
      const py::function method = method_of<PipelineSchedule>(
          this, "tasks", "tasks(stage, stages, micro_batches), a list of (\"forward\", 0)");
      std::vector<PipelineTask> all;
      const py::object said = method(stage, stages, micro_batches);
      for (const auto& [pass, batch] :
           answered<std::vector<TaskWords>>(said, py::cast(this), "tasks()",
                                            "a list as [(\"forward\", 0), (\"backward\", 0)]")) {
        if (pass != "forward" && pass != "backward") {
          throw_unknown_name("pass", pass, {"forward", "backward"});
        }
        all.push_back(
            {pass == "forward" ? PipelineTask::Pass::forward : PipelineTask::Pass::backward,
             batch});
      }
      return all;
    });
  }
};

std::vector<TaskWords> tasks_of(const PipelineSchedule& schedule, int stage, int stages,
                                int micro_batches) {
  std::vector<TaskWords> words;
  for (const auto& task : schedule.tasks(stage, stages, micro_batches)) {
    words.emplace_back(task.pass == PipelineTask::Pass::forward ? "forward" : "backward",
                       task.micro_batch);
  }
  return words;
}

}  // namespace

void register_pipeline_schedule(py::module_& m) {
  py::classh<PipelineSchedule, PythonPipelineSchedule> schedule(m, "PipelineSchedule",
                                                                kPipelineScheduleHelp);
  schedule.def(py::init<>())
      .def("tasks", &tasks_of, py::arg("stage"), py::arg("stages"), py::arg("micro_batches"),
           "Tasks of one stage in the order in which it runs them: [(\"forward\", 0), "
           "(\"backward\", 0)].");
  let_derive(schedule);
  add_part_kind<PipelineSchedule>(pipeline_schedules(), "PipelineSchedule");
  bind_by_name<PipelineSchedule>(m, pipeline_schedules(), "pipeline_schedule",
                                 "pipeline_schedules");
}

}  // namespace d5::python
