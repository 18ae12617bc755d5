// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/onnx/load_notes.hpp"
#include "d5/onnx/visitor.hpp"
#include "long_call.hpp"

namespace d5::python {
namespace {

/// Equal for snapshots of one node: within a graph, each tensor is written once.
auto identity_of(const onnx::Node& node) {
  return std::tie(node.name, node.domain, node.op_type, node.inputs, node.outputs);
}

}  // namespace

void bind_onnx(py::module_& m) {
  // A note about what a loaded file leaves out becomes a UserWarning, which `warnings` can filter
  // or turn into an error.
  onnx::listen_to_notes([](const std::string& file, const std::string& note) {
    call_python([&] {
      const std::string words = "'" + file + "': " + note;
      if (PyErr_WarnEx(PyExc_UserWarning, words.c_str(), 1) != 0) throw py::error_already_set();
    });
  });
  py::class_<onnx::Graph, std::shared_ptr<onnx::Graph>> graph(
      m, "Graph", "Nodes in an executable order; also a graph within a node.");
  py::class_<onnx::Node>(m, "Node",
                         "One call of an operator in a graph. Equal are snapshots with the same "
                         "name, operator, inputs and outputs.")
      .def_readonly("name", &onnx::Node::name, "Name of the node; \"\" if it has none.")
      .def_readonly("op_type", &onnx::Node::op_type, "Operator: \"Conv\".")
      .def_readonly("domain", &onnx::Node::domain, "Domain of the operator; empty for ONNX's own.")
      .def_readonly("opset", &onnx::Node::opset, "Version of the domain that defines the operator.")
      .def_readonly("inputs", &onnx::Node::inputs,
                    "Names of the tensors that it reads, in order; \"\" for one that is left out.")
      .def_readonly("outputs", &onnx::Node::outputs,
                    "Names of the tensors that it writes, in order; \"\" for one that is left out.")
      .def_property_readonly(
          "attributes",
          [](const onnx::Node& node) {
            Values result;
            for (const auto& [name, value] : node.attributes) {
              result[py::cast(name)] = from_attribute(value);
            }
            return result;
          },
          "Attributes by name, without those that are left to their defaults.")
      .def_property_readonly(
          "graphs",
          [](const onnx::Node& node) {
            // pybind11 has no pointers to const; Python never writes to a graph.
            std::map<std::string, std::shared_ptr<onnx::Graph>> graphs;
            for (const auto& [name, graph] : onnx::subgraphs(node)) {
              graphs[name] = std::const_pointer_cast<onnx::Graph>(graph);
            }
            return graphs;
          },
          "Graphs within the node, by attribute.")
      .def(
          "__eq__",
          [](const onnx::Node& node, const onnx::Node& other) {
            return identity_of(node) == identity_of(other);
          },
          py::is_operator())
      .def("__hash__",
           [](const onnx::Node& node) {
             return py::hash(py::make_tuple(node.name, py::tuple(py::cast(node.outputs))));
           })
      .def("__repr__",
           [](const onnx::Node& node) { return "<d5.Node " + onnx::describe(node) + ">"; });
  const auto names_of = [](const std::vector<onnx::ValueInfo>& values) {
    std::vector<std::string> names;
    for (const auto& value : values) names.push_back(value.name);
    return names;
  };
  graph.def_readonly("name", &onnx::Graph::name, "Name of the graph.")
      .def_readonly("nodes", &onnx::Graph::nodes, "Nodes in an executable order.")
      .def_property_readonly(
          "input_names", [=](const onnx::Graph& g) { return names_of(g.inputs); },
          "Names of the inputs, in order.")
      .def_property_readonly(
          "output_names", [=](const onnx::Graph& g) { return names_of(g.outputs); },
          "Names of the outputs, in order.")
      .def("__repr__", [](const onnx::Graph& g) { return "<d5.Graph " + printable(g.name) + ">"; });
  m.def(
      "expect_none_untranslated",
      [](const std::vector<onnx::Node>& nodes, const std::string& framework) {
        std::vector<const onnx::Node*> pointers;
        for (const auto& node : nodes) pointers.push_back(&node);
        onnx::expect_none_untranslated(pointers, framework);
      },
      py::arg("nodes"), py::arg("framework"),
      "Raises Unsupported with all `nodes`, which a translation to `framework` lacks, and possible "
      "ways out; returns if there are none.");
}

}  // namespace d5::python
