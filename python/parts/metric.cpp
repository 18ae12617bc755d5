// SPDX-License-Identifier: Apache-2.0
#include "d5/core/metric.hpp"
#include "level2_training/training/python_metric.hpp"
#include "part_kind.hpp"

namespace d5::python {

void register_metric(py::module_&) {
  const auto add = [](const std::string& name, const std::string& summary,
                      const SharedEntry& entry) {
    add_to(metrics(), name, summary, entry,
           [entry, name](const PythonOptions& own) -> std::shared_ptr<Metric> {
             const py::gil_scoped_acquire gil;
             const auto of = [&](const py::object& made) { return to_metric(named(made, name)); };
             return entry->make(own, of, py::tuple());
           });
  };
  part_kinds().add("metric", {.base = "Metric", .needs = 0, .add = add});
}

}  // namespace d5::python
