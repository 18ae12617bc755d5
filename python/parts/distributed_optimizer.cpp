// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"
#include "level2_training/optimization/optimizer_classes.hpp"
#include "level3_distributed/python_scheme.hpp"
#include "part_kind.hpp"

namespace d5::python {

void register_distributed_optimizer(py::module_&) {
  const auto make = [](const PythonEntry& entry, std::shared_ptr<ThreeStepOptimizer> optimizer,
                       std::shared_ptr<Communicator> ranks, const PythonOptions& own) {
    return entry.make(own, [&](const py::object& made) {
      return to_scheme(made, std::move(optimizer), std::move(ranks));
    });
  };
  part_kinds().add(distributed_optimizers().kind(),
                   {.base = "DistributedOptimizer",
                    .needs = 0,
                    .add = adding_to(distributed_optimizers(), make)});
}

}  // namespace d5::python
