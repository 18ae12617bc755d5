// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"

#include "bindings.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/communicator/gather_records.hpp"
#include "declared_keywords.hpp"
#include "level2_training/optimization/optimizer_classes.hpp"
#include "level3_distributed/job.hpp"

namespace d5::python {
namespace {

std::shared_ptr<Communicator> workers_of(DistributedOptimizer& scheme) {
  try {
    return scheme.workers().shared_from_this();
  } catch (const ValueError&) {
    return nullptr;
  }
}

Measurements gather(std::vector<Measurement> mine, const std::shared_ptr<Communicator>& ranks,
                    bool trained) {
  std::vector<Measurement> all;
  {
    const py::gil_scoped_release released;
    all = gather_records(std::move(mine), *ranks, trained);
  }
  return Measurements(all);
}

}  // namespace

void bind_distributed_optimizer(py::module_& m) {
  py::class_<DistributedOptimizer, Optimizer, std::shared_ptr<DistributedOptimizer>>(
      m, "BoundDistributedOptimizer", "An optimizer whose steps run on all ranks.",
      ended_without_gil())
      .def_property_readonly(
          "ranks",
          [](DistributedOptimizer& scheme) { return scheme.communicator().shared_from_this(); },
          "Its communicator.")
      .def_property_readonly(
          "workers", &workers_of,
          "The ranks that train and need samples; None at a rank that serves them.")
      .def_property_readonly(
          "optimizer", [](DistributedOptimizer& scheme) -> Optimizer& { return scheme.local(); },
          py::return_value_policy::reference_internal,
          "The optimizer that updates each rank's parameters.")
      .def_property_readonly("consistent", &DistributedOptimizer::is_consistent,
                             "Whether all ranks have the same parameters after every step.");
  m.def(
      "distributed_optimizer",
      [](const std::string& which, const std::shared_ptr<Optimizer>& optimizer,
         const Options& options) -> std::shared_ptr<Optimizer> {
        auto three_steps = std::dynamic_pointer_cast<ThreeStepOptimizer>(optimizer);
        if (!three_steps) {
          throw Unsupported(
              "this optimizer cannot be distributed: it is not an optimizer in three steps; choose "
              "one of d5.optimizers()");
        }
        const Settings settings =
            entry_settings(options, "d5.distributed_optimizer", find_scheme(which).options());
        const auto ranks = job_of_python();
        const py::gil_scoped_release released;
        return find_scheme(which).make(std::move(three_steps), ranks, settings);
      },
      py::arg("which"), py::arg("optimizer").none(false),
      "Distributes an optimizer by a scheme's name (\"consistent_decentralized\", \"torch/ddp\") "
      "with its options as keywords; its steps then run on all ranks. A collective.");
  m.def("gather_records", &gather, py::arg("measurements"), py::arg("ranks").none(false),
        py::arg("trained") = true,
        "Gathers the records of all ranks, the same on each: joined as each metric defines, or one "
        "per rank, with the condition \"rank\". From a rank that did not train (`trained`) only "
        "records with samples count. A collective; each rank gives records of the same metrics.");
  m.def("distributed_optimizers", [] { return distributed_optimizers().names(); });
}

}  // namespace d5::python
