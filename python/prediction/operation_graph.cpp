// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/graph/operation_graph.hpp"

#include <fmt/format.h>

#include "d5/prediction/graph/operation_graph_file.hpp"
#include "d5/prediction/graph/operation_schedule.hpp"
#include "d5/prediction/training_graphs/closed_cost.hpp"
#include "d5/prediction/training_graphs/training_graph.hpp"
#include "prediction/prediction.hpp"

namespace d5::python {
namespace {

using Id = OperationGraph::Id;

Id add(OperationGraph& graph, const std::string& name, const std::string& kind, double seconds,
       const std::vector<Id>& after, const std::string& lane, int rank, std::int64_t priority) {
  return graph.add({.name = name,
                    .kind = kind,
                    .lane = graph.lane(rank, lane),
                    .seconds = seconds,
                    .priority = priority},
                   after);
}

/// Operations by id: name, kind, rank, lane, seconds.
py::typing::Dict<py::int_, py::object> operations_of(const OperationGraph& graph) {
  py::typing::Dict<py::int_, py::object> operations;
  for (const Id id : graph.ids()) {
    const Operation& operation = graph.operation(id);
    const OperationLane& lane = graph.lanes()[operation.lane];
    operations[py::int_(id)] =
        py::dict(py::arg("name") = operation.name, py::arg("kind") = operation.kind,
                 py::arg("rank") = lane.rank, py::arg("lane") = lane.name,
                 py::arg("seconds") = operation.seconds);
  }
  return operations;
}

OperationGraph training_graph(const TrainingProfile& profile, std::int64_t batch,
                              std::int64_t ranks, const std::optional<ClusterDescription>& cluster,
                              const std::string& algorithm) {
  OperationGraph graph =
      data_parallel_graph(profile, {.batch = batch, .ranks = ranks, .algorithm = algorithm});
  if (cluster) price(graph, closed_cost(*cluster));
  return graph;
}

}  // namespace

void bind_operation_graph(py::module_& m) {
  py::class_<OperationSchedule>(m, "OperationSchedule", "Times of operations, in s.")
      .def_readonly("seconds", &OperationSchedule::seconds, "End of the last operation.")
      .def_readonly("begin", &OperationSchedule::begin, "Begin of each operation, by id.")
      .def_readonly("end", &OperationSchedule::end, "End of each operation, by id.")
      .def_readonly("order", &OperationSchedule::order, "Ids in the order in which they begin.");
  py::class_<OperationGraph>(
      m, "OperationGraph",
      "Operations with their lanes and times, and the dependencies between them.")
      .def(py::init<std::string>(), py::arg("name") = "")
      .def("add", &add, py::arg("name"), py::arg("kind"), py::arg("seconds"),
           py::arg("after") = std::vector<Id>{}, py::kw_only(), py::arg("lane") = "compute",
           py::arg("rank") = 0, py::arg("priority") = 0, "Adds an operation. Returns its id.")
      .def("retime", &OperationGraph::retime, py::arg("id"), py::arg("seconds"),
           "Sets the time of an operation. Raises ValueError for an unknown id, and for a time "
           "that is negative or NaN.")
      .def("remove", &OperationGraph::remove, py::arg("id"),
           "Removes an operation; what waited for it waits for its predecessors.")
      .def("__len__", &OperationGraph::size)
      .def_property_readonly("operations", &operations_of,
                             "Operations by id: name, kind, rank, lane and seconds.")
      .def(
          "schedule", [](const OperationGraph& graph) { return schedule(graph); },
          "Schedules every operation on its lane, each as soon as its predecessors have ended and "
          "the lane is free.")
      .def(
          "critical_path",
          [](const OperationGraph& graph) {
            CriticalPath path = critical_path(graph);
            return std::pair(path.seconds, std::move(path.operations));
          },
          "Seconds and ids of the critical path: the longest chain, ignoring lanes.")
      .def(
          "most_helpful",
          [](const OperationGraph& graph, double shorter) {
            std::vector<std::pair<Id, double>> gains;
            for (const OperationGain& gain : most_helpful(graph, {.shorter = shorter})) {
              gains.emplace_back(gain.id, gain.seconds);
            }
            return gains;
          },
          py::arg("shorter") = 0.1,
          "Ids, with the seconds by which the schedule gets shorter if each of them does, most "
          "first.")
      .def(
          "write",
          [](const OperationGraph& graph, const Path& path) { write_operation_graph(graph, path); },
          py::arg("path"), "Writes a .dot, .svg or JSON file.")
      .def("__repr__", [](const OperationGraph& graph) {
        return fmt::format("<d5.OperationGraph {}: {} operations>", printable(graph.name()),
                           graph.size());
      });
  m.def(
      "read_operation_graph", [](const Path& path) { return read_operation_graph(path); },
      py::arg("path"), "Reads a file that OperationGraph.write wrote (JSON).");
  m.def("training_graph", &training_graph, py::arg("profile"), py::arg("batch"), py::kw_only(),
        py::arg("ranks") = 1, py::arg("cluster") = std::nullopt, py::arg("algorithm") = "ring",
        "A step of data-parallel training on rank 0. Without a cluster, sums take no time.");
}

}  // namespace d5::python
