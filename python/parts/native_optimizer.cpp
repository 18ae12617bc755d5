// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "d5/core/error.hpp"
#include "d5/core/framework.hpp"
#include "d5/level2_training/optimizer.hpp"
#include "level2_training/optimization/optimizer_classes.hpp"
#include "level2_training/optimization/python_optimizer.hpp"
#include "part_kind.hpp"

namespace d5::python {

/// Of a framework in Python, "FRAMEWORK/NAME".
void register_native_optimizer(py::module_&) {
  const auto add = [](const std::string& name, const std::string& summary,
                      const SharedEntry& entry) {
    const auto slash = name.find('/');
    if (slash == std::string::npos) {
      throw ValueError(
          fmt::format("native optimizer '{}': expected FRAMEWORK/NAME", printable(name)));
    }
    add_to(framework(name.substr(0, slash)).part<NativeOptimizers>(), name.substr(slash + 1),
           summary, entry,
           [entry](std::shared_ptr<GraphExecutor> executor, std::string loss,
                   const PythonOptions& own) {
             const py::gil_scoped_acquire gil;
             const auto of = [&](const py::object& made) {
               return to_optimizer(made, std::move(executor), std::move(loss));
             };
             return entry->make(own, of, py::tuple());
           });
  };
  part_kinds().add("native optimizer", {.base = "", .needs = 0, .add = add});
}

}  // namespace d5::python
