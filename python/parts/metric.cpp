// SPDX-License-Identifier: Apache-2.0
#include "d5/core/measuring/metric.hpp"
#include "level2_training/training/python_metric.hpp"
#include "part_kind.hpp"

namespace d5::python {

void register_metric(py::module_&) {
  const auto make = [](const PythonEntry& entry, const PythonOptions& own) {
    return entry.make(
        own, [&entry](const py::object& made) { return to_metric(named(made, entry.name)); });
  };
  part_kinds().add(metrics().kind(),
                   {.base = "Metric", .needs = 0, .add = adding_to(metrics(), make)});
}

}  // namespace d5::python
