// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/optimization/optimizer.hpp"

#include "d5/core/entries/framework.hpp"
#include "level2_training/optimization/optimizer_classes.hpp"
#include "level2_training/optimization/python_optimizer.hpp"
#include "part_kind.hpp"

namespace d5::python {

/// Adds general optimizers, and those of a framework in Python, "FRAMEWORK/NAME".
void register_optimizer(py::module_&) {
  const auto make = [](const PythonEntry& entry, std::shared_ptr<GraphExecutor> executor,
                       std::string loss, const PythonOptions& own) {
    return entry.make(own, [&](const py::object& made) {
      return to_optimizer(made, std::move(executor), std::move(loss));
    });
  };
  part_kinds().add(optimizers().kind(),
                   {.base = "Optimizer", .needs = 0, .add = adding_to(optimizers(), make)});
  const auto add_native = [make](const std::string& summary, const SharedEntry& entry) {
    const auto [owner, name] = owned_name(entry->name, '/', "native optimizer");
    add_to(framework(owner).part<NativeOptimizers>(), name, summary, entry, make);
  };
  part_kinds().add("native optimizer", {.base = "", .needs = 0, .add = add_native});
}

}  // namespace d5::python
