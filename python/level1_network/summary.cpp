// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/picture/network_summary.hpp"

#include <fmt/format.h>

#include <optional>

#include "bindings.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level1_network/picture/network_tables.hpp"

namespace d5::python {
namespace {

using Part = NetworkSummary::Part;

template <class Dims>
Anything to_tuple(const Dims& dims) {
  py::list list;
  for (const auto& dim : dims) list.append(py::cast(dim));
  return py::tuple(list);
}

Anything sizes_of(const ValueDesc& desc) {
  if (!desc.is_static()) return py::none();
  return to_tuple(desc.tensor.shape);
}

void bind_part(py::module_& m) {
  py::class_<Part>(m, "SummaryPart", "A node, a layer, an operator, or the whole network.")
      .def_readonly(
          "name", &Part::name,
          "Name of the node (or of its first output), the layer, the operator or the network.")
      .def_readonly("op_type", &Part::op_type, "Operator of a node.")
      .def_readonly("nodes", &Part::nodes, "Number of nodes in it.")
      .def_readonly("outputs", &Part::outputs,
                    "Names of output tensors; for several nodes, the last one's.")
      .def_readonly("parameters", &Part::parameters,
                    "Number of parameter elements, each counted at its first reader.")
      .def_readonly("parameter_bytes", &Part::parameter_bytes, "Size of these elements in bytes.")
      .def_property_readonly(
          "flop", [](const Part& p) { return p.cost.flop; },
          "FLOP of a forward run; that of `incomplete` nodes is missing, in whole or in part.")
      .def_property_readonly(
          "bytes", [](const Part& p) { return p.cost.bytes_read + p.cost.bytes_written; },
          "Bytes of every input and every output, each counted once.")
      .def_readonly("incomplete", &Part::incomplete,
                    "Number of nodes whose cost is unknown, and not in the sums.")
      .def_readonly("reason", &Part::reason, "The reason for the first such node.")
      .def("__repr__", [](const Part& p) {
        return fmt::format("<d5.SummaryPart {}: {} parameters, {:g} FLOP>", printable(p.name),
                           p.parameters, p.cost.flop);
      });
}

SummaryBy part_of(const std::string& word) {
  if (word == "node") return SummaryBy::node;
  if (word == "layer") return SummaryBy::layer;
  if (word == "operator") return SummaryBy::operator_type;
  throw ValueError(
      fmt::format("by is '{}', expected node, layer, operator or None", printable(word)));
}

TextTable facts_of(Network& network, const std::string& model, std::int64_t batch,
                   const std::map<std::string, std::int64_t>& dims) {
  const OpenSizes sizes{.batch = batch, .by_name = dims};
  return facts_table(network, summarise(network, sizes), model.empty() ? network.name() : model,
                     sizes);
}

TextTable table_of_parts(const Network& network, const std::optional<std::string>& by,
                         const std::vector<std::string>& frameworks, std::int64_t batch,
                         const std::map<std::string, std::int64_t>& dims) {
  const NetworkSummary summary = summarise(network, {.batch = batch, .by_name = dims});
  return parts_table(network, summary, by ? part_of(*by) : usual_parts(summary), frameworks);
}

}  // namespace

void bind_network_tables(py::module_& m) {
  m.def("facts_table", &facts_of, py::arg("network"), py::kw_only(), py::arg("model") = "",
        py::arg("batch") = 1, py::arg("dims") = std::map<std::string, std::int64_t>(),
        py::call_guard<py::gil_scoped_release>(),
        "Facts about a network, a row each: inputs, outputs, opsets, the size of its parameters. "
        "`model` is the word that opened it.");
  m.def("parts_table", &table_of_parts, py::arg("network"), py::kw_only(),
        py::arg("by") = py::none(), py::arg("frameworks") = std::vector<std::string>(),
        py::arg("batch") = 1, py::arg("dims") = std::map<std::string, std::int64_t>(),
        py::call_guard<py::gil_scoped_release>(),
        "A row per node, layer or operator, with FLOP and bytes, and a column per framework: "
        "whether it supports the operators, or why not: `d5 net show`. Without `by` layers where "
        "there are many nodes.");
}

void bind_network_summary(py::module_& m) {
  bind_part(m);
  using Tensor = NetworkSummary::Tensor;
  py::class_<Tensor>(m, "TensorInfo", "Known facts about a tensor of a network.")
      .def_property_readonly(
          "dtype",
          [](const Tensor& t) {
            const bool declared = t.type.kind == ValueKind::tensor;
            return name_of(declared ? t.type.dtype : t.desc.tensor.dtype);
          },
          "Element type: \"float32\".")
      .def_property_readonly(
          "shape",
          [](const Tensor& t) {
            const bool declared = t.type.kind == ValueKind::tensor && t.type.has_shape;
            return declared ? to_tuple(t.type.dims) : sizes_of(t.desc);
          },
          "Numbers, names of open dimensions, or None; None as a whole if it is known only at run "
          "time.")
      .def_property_readonly(
          "sizes", [](const Tensor& t) { return sizes_of(t.desc); },
          "The shape for the given sizes, or None.")
      .def("__repr__", [](const Tensor& t) {
        return fmt::format("<d5.TensorInfo {}>", t.type.kind == ValueKind::none
                                                     ? to_string(t.desc)
                                                     : onnx::to_string(t.type));
      });
  py::class_<NetworkSummary>(m, "NetworkSummary", "Structure and cost of a network's forward run.")
      .def_readonly("nodes", &NetworkSummary::nodes,
                    "A d5.SummaryPart per node, in the order of the graph.")
      .def_property_readonly(
          "layers", [](const NetworkSummary& s) { return parts_of(s, SummaryBy::layer); },
          "By the layers in the nodes' names: stage1.block2.")
      .def_property_readonly(
          "operators",
          [](const NetworkSummary& s) { return parts_of(s, SummaryBy::operator_type); },
          "A d5.SummaryPart per operator, in the order of their first nodes.")
      .def_readonly("total", &NetworkSummary::total, "The sums over all nodes.")
      .def_readonly("tensors", &NetworkSummary::tensors, "All tensors but constants, by name.")
      .def("__str__",
           [](const NetworkSummary& s) {
             return to_table(s, SummaryBy::layer, Format::table).to_text(Format::table);
           })
      .def("__repr__", [](const NetworkSummary& s) {
        return fmt::format("<d5.NetworkSummary {}: {} nodes, {} parameters, {:g} FLOP>",
                           printable(s.total.name), s.nodes.size(), s.total.parameters,
                           s.total.cost.flop);
      });
}

}  // namespace d5::python
