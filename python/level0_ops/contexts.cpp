// SPDX-License-Identifier: Apache-2.0
// What an operator written in Python is given.
#include "bindings.hpp"
#include "d5/level0_ops/level0_ops.hpp"

namespace d5::python {

void bind_operator_contexts(py::module_& m) {
  const auto index = py::arg("index");

  py::class_<InferContext>(m, "InferContext", "Shapes and types of an operator's inputs.")
      .def(
          "shape",
          [](const InferContext& c, std::size_t i) {
            return std::vector<std::int64_t>(c.shape(i).begin(), c.shape(i).end());
          },
          index)
      .def(
          "dtype",
          [](const InferContext& c, std::size_t i) { return std::string(name_of(c.dtype(i))); },
          index)
      .def_property_readonly("input_count", &InferContext::input_count);
  // Tensors here live as long as the run: they are for use inside forward and backward only.
  py::class_<OpContext>(m, "OpContext", "Inputs and outputs of an operator that runs forward.")
      .def(
          "input", [](const OpContext& c, std::size_t i) { return c.input(i); }, index)
      .def(
          "output", [](const OpContext& c, std::size_t i) { return c.output(i); }, index)
      .def_property_readonly("input_count", &OpContext::input_count);
  py::class_<GradContext>(m, "GradContext",
                          "Values and gradients of an operator that runs backward.")
      .def(
          "input", [](const GradContext& c, std::size_t i) { return c.input(i); }, index)
      .def(
          "output", [](const GradContext& c, std::size_t i) { return c.output(i); }, index)
      .def_property_readonly("input_count", &GradContext::input_count)
      .def("wants_grad", &GradContext::wants_grad, index)
      .def("has_grad_output", &GradContext::has_grad_output, index)
      .def(
          "grad_output", [](const GradContext& c, std::size_t i) { return c.grad_output(i); },
          index)
      .def(
          "grad_input", [](const GradContext& c, std::size_t i) { return c.grad_input(i); }, index);
}

}  // namespace d5::python
