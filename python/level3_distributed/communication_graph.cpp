// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/communication_graph.hpp"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "d5/core/entries/registry.hpp"
#include "d5/level3_distributed/graph/communication_group.hpp"
#include "d5/level3_distributed/graph/communication_operators.hpp"
#include "d5/level3_distributed/graph/partition.hpp"
#include "d5/level3_distributed/graph/pipeline_schedule.hpp"
#include "d5/level3_distributed/graph/pipeline_stage.hpp"
#include "declared_keywords.hpp"

namespace d5::python {
namespace {

std::vector<NetworkPart> cut(const Network& network, int parts, const std::string& partition,
                             const Options& options) {
  const Settings settings = entry_settings(options, "d5.partition", partitions(), partition);
  const py::gil_scoped_release released;
  return partitions().at(partition).make(settings)->cut(network, parts);
}

std::optional<double> run(PipelineStage& stage, const std::vector<Values>& micro_batches) {
  std::vector<ValueMap> batches;
  for (const Values& batch : micro_batches) batches.push_back(to_values(batch));
  const py::gil_scoped_release released;
  return stage.run(batches);
}

void bind_groups(py::module_& m) {
  const auto released = py::call_guard<py::gil_scoped_release>();
  m.def("add_communication_operators", &add_communication_operators, released,
        "Registers communication operators of the domain \"d5\" (AllReduce, Broadcast, "
        "ReduceScatter, AllGather, Send, Receive, AverageGradient, SumGradient), and the transform "
        "dsgd. Operators against d5/abi.h may then ask for ranks. Later calls do nothing.");
  m.def("name_communication_group", &name_communication_group, py::arg("name"),
        py::arg("ranks").none(false), released,
        "Names a group of ranks for nodes whose attribute `group` is that name.");
  m.def("communication_group", &communication_group, py::arg("name"), released,
        "The ranks that nodes call by a name; \"world\" always exists.");
}

void bind_partitions(py::module_& m) {
  py::class_<NetworkPart>(m, "NetworkPart",
                          "One of the networks that together compute what the whole one computes.")
      .def_property_readonly(
          "network", [](const NetworkPart& part) { return part.network; },
          "The part as a d5.Network of its own.")
      .def_property_readonly(
          "receives",
          [](const NetworkPart& part) {
            std::vector<std::string> names;
            for (const CutTensor& tensor : part.receives) names.push_back(tensor.name);
            return names;
          },
          "Names of inputs that other parts write.")
      .def_property_readonly(
          "sends",
          [](const NetworkPart& part) {
            std::vector<std::string> names;
            for (const CutTensor& tensor : part.sends) names.push_back(tensor.name);
            return names;
          },
          "Names of outputs that other parts read.")
      .def("__repr__", [](const NetworkPart& part) {
        return fmt::format("<d5.NetworkPart {}: {} nodes>", part.network.name(),
                           part.network.graph().nodes.size());
      });
  m.def("partition", &cut, py::arg("network"), py::arg("parts"), py::arg("partition") = "pipeline",
        "Cuts a network into parts: d5.partition(network, 2, batch=8).");
  m.def("partitions", [] { return partitions().names(); });
}

void bind_pipelines(py::module_& m) {
  py::class_<PipelineTrial>(
      m, "PipelineTrial",
      "Trial of a schedule whose tasks take one unit of time, and messages none.")
      .def_readonly("time", &PipelineTrial::time,
                    "Time until the last task ends, in units of one task.")
      .def_readonly("bubble", &PipelineTrial::bubble, "Share of the time in which a stage waits.")
      .def_readonly("most_in_flight", &PipelineTrial::most_in_flight,
                    "Per stage: micro-batches that ran forward and not yet backward.");
  m.def(
      "try_schedule",
      [](const std::string& schedule, int stages, int micro_batches) {
        return try_schedule(*pipeline_schedules().at(schedule).make(), stages, micro_batches);
      },
      py::arg("schedule"), py::arg("stages"), py::arg("micro_batches"),
      "Plays a pipeline schedule with tasks of unit time, without running anything: its bubble, "
      "and micro-batches in flight. Raises ValueError for a schedule that deadlocks.");
  py::class_<PipelineStage>(m, "PipelineStage",
                            "This rank's stage of a network in parts, one per rank. A collective.")
      .def(py::init([](NetworkPart part, std::string loss, std::shared_ptr<Communicator> ranks,
                       const std::string& schedule) {
             const py::gil_scoped_release released;
             return std::make_unique<PipelineStage>(std::move(part), std::move(loss),
                                                    std::move(ranks),
                                                    pipeline_schedules().at(schedule).make());
           }),
           py::arg("part"), py::arg("loss"), py::arg("ranks").none(false), py::kw_only(),
           py::arg("schedule") = "1f1b",
           "Takes a part of d5.partition and the output `loss` of one of the stages. `schedule` is "
           "one of pipeline_schedules(). Raises NotFound if no stage has the loss.")
      .def("run", &run, py::arg("micro_batches"),
           "Runs all micro-batches forward and backward, and leaves the gradients of their mean "
           "loss in `network`. Returns the mean loss at the stage that computes it. A collective.")
      .def_property_readonly(
          "network", [](PipelineStage& stage) -> Network& { return stage.network(); },
          py::return_value_policy::reference_internal,
          "This stage's network, with its parameters and their gradients.");
}

}  // namespace

void bind_communication_graph(py::module_& m) {
  bind_groups(m);
  bind_partitions(m);
  bind_pipelines(m);
}

}  // namespace d5::python
