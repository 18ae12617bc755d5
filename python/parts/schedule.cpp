// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/schedule.hpp"
#include "level2_training/optimization/python_schedule.hpp"
#include "part_kind.hpp"

namespace d5::python {

void register_schedule(py::module_&) {
  const auto add = [](const std::string& name, const std::string& summary,
                      const SharedEntry& entry) {
    add_to(schedules(), name, summary, entry,
           [entry](const PythonOptions& own) -> std::shared_ptr<Schedule> {
             const py::gil_scoped_acquire gil;
             const auto of = [&](const py::object& made) { return to_schedule(made); };
             return entry->make(own, of, py::tuple());
           });
  };
  part_kinds().add("schedule", {.base = "Schedule", .needs = 0, .add = add});
}

}  // namespace d5::python
