// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/optimizer.hpp"
#include "level2_training/optimization/optimizer_classes.hpp"
#include "level2_training/optimization/python_optimizer.hpp"
#include "part_kind.hpp"

namespace d5::python {

void register_optimizer(py::module_&) {
  const auto add = [](const std::string& name, const std::string& summary,
                      const SharedEntry& entry) {
    add_to(optimizers(), name, summary, entry,
           [entry](std::shared_ptr<GraphExecutor> executor, std::string loss,
                   const PythonOptions& own) {
             const py::gil_scoped_acquire gil;
             const auto of = [&](const py::object& made) {
               return to_optimizer(made, std::move(executor), std::move(loss));
             };
             return entry->make(own, of, py::tuple());
           });
  };
  part_kinds().add("optimizer", {.base = "Optimizer", .needs = 0, .add = add});
}

}  // namespace d5::python
