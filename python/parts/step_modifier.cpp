// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/step_modifier.hpp"
#include "level2_training/optimization/python_step_modifier.hpp"
#include "part_kind.hpp"

namespace d5::python {

void register_step_modifier(py::module_&) {
  const auto add = [](const std::string& name, const std::string& summary,
                      const SharedEntry& entry) {
    add_to(step_modifiers(), name, summary, entry,
           [entry, name](const PythonOptions& own) -> std::shared_ptr<StepModifier> {
             const py::gil_scoped_acquire gil;
             const auto of = [&](const py::object& made) {
               return to_step_modifier(named(made, name));
             };
             return entry->make(own, of, py::tuple());
           });
  };
  part_kinds().add("step modifier", {.base = "StepModifier", .needs = 0, .add = add});
}

}  // namespace d5::python
