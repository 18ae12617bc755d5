// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/optimization/step_modifier.hpp"
#include "level2_training/optimization/python_step_modifier.hpp"
#include "part_kind.hpp"

namespace d5::python {

void register_step_modifier(py::module_&) {
  const auto make = [](const PythonEntry& entry, const PythonOptions& own) {
    return entry.make(own, [&entry](const py::object& made) {
      return to_step_modifier(named(made, entry.name));
    });
  };
  part_kinds().add(step_modifiers().kind(),
                   {.base = "StepModifier", .needs = 0, .add = adding_to(step_modifiers(), make)});
}

}  // namespace d5::python
