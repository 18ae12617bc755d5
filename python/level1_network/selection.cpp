// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/mixture/framework_selection.hpp"

#include <fmt/format.h>

#include <optional>

#include "bindings.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "use.hpp"

namespace d5::python {
namespace {

using Selection = FrameworkSelection;

std::optional<double> ratio_of(const Comparison& comparison) {
  if (comparison.pairs == 0) return std::nullopt;
  return comparison.ratio;
}

std::optional<std::pair<double, double>> interval_of(const Comparison& comparison) {
  if (comparison.pairs == 0) return std::nullopt;
  return std::pair(comparison.ratio_interval.low, comparison.ratio_interval.high);
}

void bind_selection_parts(py::module_& m) {
  using Node = Selection::Node;
  py::class_<Node>(m, "SelectedNode", "Framework in which \"auto\" runs a node, and the runner-up.")
      .def_readonly("name", &Node::name, "Name of the node.")
      .def_readonly("op_type", &Node::op_type, "Operator of the node: \"Conv\".")
      .def_readonly("framework", &Node::framework, "Framework in which the node runs.")
      .def_readonly("seconds", &Node::seconds,
                    "Median time within runs of the whole network; 0: not measured.")
      .def_readonly("runner_up", &Node::runner_up,
                    "The second-fastest framework; empty if no other supports the node.")
      .def_property_readonly(
          "ratio", [](const Node& n) { return ratio_of(n.ratio); },
          "The runner-up's time over the chosen one's, or None.")
      .def_property_readonly(
          "interval", [](const Node& n) { return interval_of(n.ratio); },
          "95% interval of `ratio`; NaN with too few samples.")
      .def("__repr__", [](const Node& n) {
        return fmt::format("<d5.SelectedNode {} in {}>", printable(n.name), printable(n.framework));
      });
  using Way = Selection::Way;
  py::class_<Way>(
      m, "SelectedWay",
      "A way to run the whole network: \"mixture\", a framework, or an executor of its own.")
      .def_readonly("name", &Way::name,
                    "Word for the way: \"mixture\", \"torch\", \"torch:torch\", \"fused\".")
      .def_readonly("seconds", &Way::seconds, "Median time.")
      .def_property_readonly(
          "ratio", [](const Way& w) { return ratio_of(w.ratio); },
          "Its time over the chosen one's, or None.")
      .def_property_readonly(
          "interval", [](const Way& w) { return interval_of(w.ratio); },
          "95% interval of `ratio`, or None; NaN with too few samples.")
      .def("__repr__", [](const Way& w) {
        return fmt::format("<d5.SelectedWay {}: {:g} s>", printable(w.name), w.seconds);
      });
}

}  // namespace

void bind_framework_selection(py::module_& m) {
  bind_selection_parts(m);
  py::class_<Selection>(m, "FrameworkSelection", "The choice of \"auto\", and its confidence.")
      .def_readonly("chosen", &Selection::chosen, "Name of the chosen way; empty without \"auto\".")
      .def_readonly("ways", &Selection::ways, "Ways, the fastest first.")
      .def_readonly("nodes", &Selection::nodes,
                    "A d5.SelectedNode for each node of the plan that d5 runs.")
      .def_property_readonly(
          "refusals",
          [](const Selection& s) {
            std::vector<std::pair<std::string, std::string>> pairs;
            for (const auto& [who, reason] : s.refusals) pairs.emplace_back(who, reason);
            return pairs;
          },
          "Candidates that failed, or gave other results, each with the reason.")
      .def_readonly("notes", &Selection::notes, "Problems with reading or writing a stored choice.")
      .def_readonly("reorders", &Selection::reorders,
                    "Reorders and copies between the nodes of a run.")
      .def_readonly("draws", &Selection::draws,
                    "Number of inputs on which candidates were checked: the given input, and three "
                    "random ones like it if it is random.")
      .def_readonly("measuring_seconds", &Selection::measuring_seconds,
                    "Time spent on measuring; 0 if the choice was stored.")
      .def_readonly("kept", &Selection::kept, "Whether it is a stored choice of an earlier run.")
      .def("__str__",
           [](const Selection& s) {
             return summary_table(s, Format::table).to_text(Format::table) + "\n" +
                    to_table(s, Format::table).to_text(Format::table);
           })
      .def("__repr__", [](const Selection& s) {
        return fmt::format("<d5.FrameworkSelection {}: {} nodes>",
                           s.chosen.empty() ? "without auto" : printable(s.chosen), s.nodes.size());
      });
  m.def(
      "framework_selection",
      [](const GraphExecutor& executor) {
        const Use use(&executor, "the executor");
        return framework_selection(executor);
      },
      py::arg("executor").none(false),
      "The choice of \"auto\" for the executor's last inputs: `d5 net show --framework auto`.");
  m.def("forget_selections", &forget_selections, py::arg("network"),
        py::call_guard<py::gil_scoped_release>(),
        "Deletes the stored choices of \"auto\" on this machine for networks of this structure, so "
        "that it measures again. Returns how many there were.");
  m.def(
      "_expect_executors",
      [](const std::vector<std::string>& words) { (void)known_executor_words(words); },
      py::arg("words"));
  m.def("executor_words", &executor_words, py::arg("words"),
        py::call_guard<py::gil_scoped_release>(),
        "Like framework_words; each framework is followed by its own executors, \"torch:torch\".");
}

}  // namespace d5::python
