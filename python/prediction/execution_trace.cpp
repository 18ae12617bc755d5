// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/traces/execution_trace.hpp"

#include <fmt/format.h>
#include <pybind11/typing.h>

#include "d5/core/entries/entry_words.hpp"
#include "d5/prediction/training/predicted_curve.hpp"
#include "prediction/prediction.hpp"

namespace d5::python {
namespace {

/// The pickled form: name, file, notes.
using State = py::typing::Tuple<py::object, py::ellipsis>;

/// The plan of a replay, and the words of its strategies.
std::pair<PlannedTraining, std::string> plan_of(const ClusterDescription& cluster,
                                                std::int64_t batch, const std::string& scheme,
                                                const std::vector<std::string>& strategies) {
  PlannedTraining plan{simulated_training(batch, scheme, ""), cluster};
  std::string applied;
  for (const std::string& words : strategies) {
    const EntryChoice choice = entry_of_words("prediction strategy", words);
    apply_strategies({&choice, 1}, plan);
    applied += (applied.empty() ? "" : ",") + words;
  }
  return {std::move(plan), std::move(applied)};
}

PredictedCurve predict_trace(const ChakraTrace& trace, const ClusterDescription& cluster,
                             const std::vector<int>& ranks, std::int64_t batch,
                             const std::string& scheme,
                             const std::vector<std::string>& strategies) {
  const auto [plan, applied] = plan_of(cluster, batch, scheme, strategies);
  return {.model = trace.graph.name(),
          .framework = "trace",
          .device = "cpu",
          .cluster = plan.cluster.name,
          .strategy = applied,
          .points = predict_execution_trace(trace, plan, ranks)};
}

ChakraTrace on_cluster(const ChakraTrace& trace, const ClusterDescription& cluster, int ranks,
                       const std::string& scheme, const std::vector<std::string>& strategies) {
  ChakraTrace predicted = trace;
  predicted.graph = graph_on_cluster(trace, ranks, plan_of(cluster, 1, scheme, strategies).first);
  return predicted;
}

}  // namespace

void bind_execution_trace(py::module_& m) {
  py::class_<ChakraTrace>(
      m, "ChakraTrace",
      "What one rank did in a step, recorded by another program, as a graph of operations.")
      .def(py::init([](const OperationGraph& graph) { return ChakraTrace{.graph = graph}; }),
           py::arg("graph"), "A trace of a d5.OperationGraph, to be written for other programs.")
      .def_readonly("graph", &ChakraTrace::graph, "d5.OperationGraph with recorded times.")
      .def_property_readonly(
          "metadata",
          [](const ChakraTrace& trace) {
            py::typing::Dict<py::str, py::object> values;
            for (const TraceArgument& each : trace.metadata) {
              values[py::str(each.name)] = py::cast(each.value);
            }
            return values;
          },
          "Values of the whole trace, by name.")
      .def_readonly("notes", &ChakraTrace::notes,
                    "What the graph leaves out, and why; empty: nothing.")
      .def("table", &execution_trace_table,
           "A row per kind and lane with number, bytes and recorded time; dependencies; a replay.")
      .def("on_cluster", &on_cluster, py::arg("cluster"), py::arg("ranks"), py::kw_only(),
           py::arg("scheme") = kRingScheme, py::arg("strategies") = std::vector<std::string>{},
           "The trace with the times that d5.predict gives its operations.")
      .def(
          "write",
          [](const ChakraTrace& trace, const Path& path) { write_execution_trace(trace, path); },
          py::arg("path"), "Writes a Chakra execution trace, PREFIX.RANK.et. Raises IoError.")
      .def(py::pickle(
          [](const ChakraTrace& trace) {
            return State(
                py::make_tuple(trace.graph.name(), py::bytes(to_chakra(trace)), trace.notes));
          },
          [](const State& state) {
            ChakraTrace trace = execution_trace_from_chakra(state[1].cast<std::string>(),
                                                            state[0].cast<std::string>() + ".et");
            trace.notes = state[2].cast<std::vector<std::string>>();
            return trace;
          }))
      .def("__repr__", [](const ChakraTrace& trace) {
        return fmt::format("<d5.ChakraTrace {}: {} operations>", printable(trace.graph.name()),
                           trace.graph.size());
      });
  m.def(
      "read_execution_trace", [](const Path& path) { return read_execution_trace(path); },
      py::arg("path"),
      "Reads a Chakra execution trace of one rank, PREFIX.RANK.et, as ASTRA-sim does. Raises "
      "IoError, FormatError.");
  m.def("_predict_trace", &predict_trace, py::arg("trace"), py::arg("cluster"), py::arg("ranks"),
        py::arg("batch"), py::kw_only(), py::arg("scheme"), py::arg("strategies"),
        "Predicts an execution trace; implements d5.predict.");
}

}  // namespace d5::python
