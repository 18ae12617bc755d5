// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/planned_node.hpp"

#include <fmt/format.h>

#include <optional>

#include "d5/core/errors/error.hpp"

namespace d5::python {
namespace {

const TensorDesc& tensor_at(const PlannedNode& plan, const std::vector<ValueDesc>& values,
                            const char* what, std::size_t i) {
  if (i < values.size() && values[i].is_tensor()) return values[i].tensor;
  throw ShapeError(
      fmt::format("{}: {} {} is left out, or is no tensor", onnx::describe(plan.node), what, i));
}

}  // namespace

Dims dims_of(const TensorDesc& desc) {
  return Dims(py::tuple(py::cast(std::vector<std::int64_t>(desc.shape.begin(), desc.shape.end()))));
}

PlannedNode::PlannedNode(const PlanContext& context) : node(context.node()), mode(context.mode()) {
  for (std::size_t i = 0; i < context.input_count(); ++i) {
    inputs.push_back(context.has_input(i) ? context.value(i) : ValueDesc());
    const Value* constant = context.constant_value(i);
    constants.push_back(constant ? *constant : Value());
    if (context.wants_grad(i)) gradients.add(i);
  }
  for (std::size_t k = 0; k < context.output_count(); ++k) {
    outputs.push_back(context.output_value(k));
  }
}

void bind_planned_node(py::module_& m) {
  const auto index = py::arg("index");
  py::class_<PlannedNode>(
      m, "PlanContext", "What a kernel is planned for: its node, with types, shapes and constants.")
      .def_readonly("node", &PlannedNode::node, "The d5.Node that the kernel runs.")
      .def_property_readonly(
          "attributes",
          [](const PlannedNode& plan) { return Values(py::cast(plan.node).attr("attributes")); },
          "The node's attributes; one that the node leaves to ONNX's default is absent.")
      .def_property_readonly(
          "input_count", [](const PlannedNode& plan) { return plan.inputs.size(); },
          "Number of the node's inputs, including those that are left out.")
      .def_property_readonly(
          "output_count", [](const PlannedNode& plan) { return plan.outputs.size(); },
          "Number of the node's outputs, including those that are left out.")
      .def(
          "has_input",
          [](const PlannedNode& plan, std::size_t i) {
            return i < plan.inputs.size() && plan.inputs[i].kind != ValueKind::none;
          },
          index, "Whether the node has this input; an optional one may be left out.")
      .def(
          "shape",
          [](const PlannedNode& plan, std::size_t i) {
            return dims_of(tensor_at(plan, plan.inputs, "input", i));
          },
          index,
          "Shape of an input; -1 is a size that is known only at run time. Raises ShapeError for "
          "an input that is left out, or is no tensor.")
      .def(
          "dtype",
          [](const PlannedNode& plan, std::size_t i) {
            return std::string(name_of(tensor_at(plan, plan.inputs, "input", i).dtype));
          },
          index, "Element type of an input: \"float32\". Raises as `shape`.")
      .def(
          "constant",
          [](const PlannedNode& plan, std::size_t i) -> std::optional<Tensor> {
            const bool known = i < plan.constants.size() && plan.constants[i].is_tensor();
            return known ? std::optional(plan.constants[i].tensor()) : std::nullopt;
          },
          index, "An input's value if it is known before the run, else None.")
      .def(
          "wants_output",
          [](const PlannedNode& plan, std::size_t k) { return plan.node.has_output(k); }, index,
          "Whether the node has this output; an optional one may be left out.")
      .def(
          "output_shape",
          [](const PlannedNode& plan, std::size_t k) -> std::optional<Dims> {
            const TensorDesc& desc = tensor_at(plan, plan.outputs, "output", k);
            return desc.shape.is_static() ? std::optional(dims_of(desc)) : std::nullopt;
          },
          index, "Shape of an output; None if it is known only at run time.")
      .def(
          "output_dtype",
          [](const PlannedNode& plan, std::size_t k) {
            return std::string(name_of(tensor_at(plan, plan.outputs, "output", k).dtype));
          },
          index,
          "Element type of an output: \"float32\". Raises ShapeError for one that is left out.")
      .def(
          "wants_grad",
          [](const PlannedNode& plan, std::size_t i) { return plan.gradients.contains(i); }, index,
          "Whether backward must compute the gradient of this input.")
      .def_property_readonly(
          "wants_backward", [](const PlannedNode& plan) { return !plan.gradients.empty(); },
          "Whether the kernel must run backward, for any of its inputs.")
      .def_property_readonly(
          "mode",
          [](const PlannedNode& plan) {
            return plan.mode == Mode::training ? "training" : "inference";
          },
          "\"training\" or \"inference\".")
      .def("__repr__", [](const PlannedNode& plan) {
        return "<d5.PlanContext of " + onnx::describe(plan.node) + ">";
      });
}

}  // namespace d5::python
