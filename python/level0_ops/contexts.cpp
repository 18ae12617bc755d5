// SPDX-License-Identifier: Apache-2.0
// Contexts that an operator in Python receives.
#include <fmt/format.h>

#include "bindings.hpp"
#include "d5/core/errors/error.hpp"
#include "explained.hpp"
#include "lent_inputs.hpp"
#include "level0_ops/lent_contexts.hpp"

namespace d5::python {
namespace {

/// Throws: ValueError for an index that does not exist.
std::size_t place(std::size_t index, std::size_t count, const char* what) {
  if (index < count) return index;
  throw ValueError(fmt::format("there is no {0} {1}: the node has {2} {0}{3}", what, index, count,
                               count == 1 ? "" : "s"));
}

template <class Context>
std::size_t input_place(const Context& context, std::size_t index) {
  return place(index, context->input_count(), "input");
}

template <class Context>
std::size_t output_place(const Context& context, std::size_t index) {
  return place(index, context->output_count(), "output");
}

/// Throws: ValueError for a value that the node or the call lacks; `asks` tells which has it.
void expect_there(bool there, const char* what, std::size_t index, const char* asks) {
  if (there) return;
  throw ValueError(
      fmt::format("there is no {} {} in this call; {}({}) is false", what, index, asks, index));
}

template <class Context>
decltype(auto) present_input(const Context& context, std::size_t index) {
  expect_there(context->has_input(input_place(context, index)), "input", index, "has_input");
  return context->input(index);
}

}  // namespace

void bind_operator_contexts(py::module_& m) {
  const auto index = py::arg("index");

  py::class_<LentInfer>(m, "InferContext", "Shapes and types of an operator's inputs.")
      .def(
          "shape",
          [](const LentInfer& c, std::size_t i) {
            const auto& shape = c->shape(input_place(c, i));
            return std::vector<std::int64_t>(shape.begin(), shape.end());
          },
          index,
          "Shape of an input; -1 is a size that is known only at run time. Raises ValueError for "
          "an index out of range, ShapeError for an input that is left out.")
      .def(
          "dtype",
          [](const LentInfer& c, std::size_t i) {
            return std::string(name_of(c->dtype(input_place(c, i))));
          },
          index, "Element type of an input: \"float32\". Raises as `shape`.")
      .def_property_readonly(
          "input_count", [](const LentInfer& c) { return c->input_count(); },
          "Number of the node's inputs.");
  py::class_<LentOp> op(
      m, "OpContext",
      "Inputs and outputs of an operator that runs forward; valid during the call.");
  op.def(
        "input",
        [](const LentOp& c, std::size_t i) { return lend_input(present_input(c, i), c.lease()); },
        index,
        "Input as a read-only tensor. Raises ValueError for an index out of range and for an input "
        "that is left out.")
      .def(
          "output",
          [](const LentOp& c, std::size_t i) {
            expect_there(c->wants_output(output_place(c, i)), "output", i, "wants_output");
            return lend(c->output(i), c.lease());
          },
          index,
          "Output as a tensor to write. Raises ValueError for an index out of range and for an "
          "output that nothing reads.")
      .def(
          "has_input",
          [](const LentOp& c, std::size_t i) { return c->has_input(input_place(c, i)); }, index,
          "Whether the node has this input; an optional one may be left out.")
      .def(
          "wants_output",
          [](const LentOp& c, std::size_t i) { return c->wants_output(output_place(c, i)); }, index,
          "Whether the call needs this output.")
      .def_property_readonly(
          "input_count", [](const LentOp& c) { return c->input_count(); },
          "Number of the node's inputs.")
      .def_property_readonly(
          "output_count", [](const LentOp& c) { return c->output_count(); },
          "Number of the node's outputs.");
  py::class_<LentGrad> grad(
      m, "GradContext",
      "Values and gradients of an operator that runs backward; valid during the call.");
  grad.def(
          "input",
          [](const LentGrad& c, std::size_t i) {
            return lend_input(present_input(c, i), c.lease());
          },
          index,
          "Input of the forward run, read-only. Raises ValueError for an index out of range and "
          "for "
          "an input that is left out.")
      .def(
          "output",
          [](const LentGrad& c, std::size_t i) {
            return lend_input(c->output(output_place(c, i)), c.lease());
          },
          index,
          "Output of the forward run, read-only. Raises ValueError for an index out of range.")
      .def(
          "has_input",
          [](const LentGrad& c, std::size_t i) { return c->has_input(input_place(c, i)); }, index,
          "Whether the node has this input; an optional one may be left out.")
      .def_property_readonly(
          "input_count", [](const LentGrad& c) { return c->input_count(); },
          "Number of the node's inputs.")
      .def(
          "wants_grad",
          [](const LentGrad& c, std::size_t i) { return c->wants_grad(input_place(c, i)); }, index,
          "Whether the gradient of this input must be computed.")
      .def(
          "has_grad_output",
          [](const LentGrad& c, std::size_t i) { return c->has_grad_output(output_place(c, i)); },
          index, "Whether a gradient reaches this output; otherwise it is zero.")
      .def(
          "grad_output",
          [](const LentGrad& c, std::size_t i) {
            expect_there(c->has_grad_output(output_place(c, i)), "gradient of output", i,
                         "has_grad_output");
            return lend_input(c->grad_output(i), c.lease());
          },
          index, "Gradient of an output, read-only. Raises ValueError without `has_grad_output`.")
      .def(
          "grad_input",
          [](const LentGrad& c, std::size_t i) {
            expect_there(c->wants_grad(input_place(c, i)), "gradient of input", i, "wants_grad");
            return lend(c->grad_input(i), c.lease());
          },
          index, "Gradient of an input, to write. Raises ValueError without `wants_grad`.");
  explain_wrong_calls(op, {"input", "output", "has_input", "wants_output"});
  explain_wrong_calls(grad, {"input", "output", "has_input", "wants_grad", "has_grad_output",
                             "grad_output", "grad_input"});
}

}  // namespace d5::python
