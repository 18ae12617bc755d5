// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/distributed_optimizer.hpp"
#include "level2_training/optimization/optimizer_classes.hpp"
#include "level3_distributed/python_scheme.hpp"
#include "part_kind.hpp"

namespace d5::python {

void register_distributed_optimizer(py::module_&) {
  const auto add = [](const std::string& name, const std::string& summary,
                      const SharedEntry& entry) {
    add_to(distributed_optimizers(), name, summary, entry,
           [entry](std::shared_ptr<ThreeStepOptimizer> optimizer,
                   std::shared_ptr<Communicator> ranks, const PythonOptions& own) {
             const py::gil_scoped_acquire gil;
             const auto of = [&](const py::object& made) {
               return to_scheme(made, std::move(optimizer), std::move(ranks));
             };
             return entry->make(own, of, py::tuple());
           });
  };
  part_kinds().add("distributed optimizer",
                   {.base = "DistributedOptimizer", .needs = 0, .add = add});
}

}  // namespace d5::python
