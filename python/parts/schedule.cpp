// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/optimization/schedule.hpp"
#include "level2_training/optimization/python_schedule.hpp"
#include "part_kind.hpp"

namespace d5::python {

void register_schedule(py::module_&) {
  const auto make = [](const PythonEntry& entry, const PythonOptions& own) {
    return entry.make(own, &to_schedule);
  };
  part_kinds().add(schedules().kind(),
                   {.base = "Schedule", .needs = 0, .add = adding_to(schedules(), make)});
}

}  // namespace d5::python
