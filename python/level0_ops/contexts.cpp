// SPDX-License-Identifier: Apache-2.0
// What an operator written in Python is given.
#include "bindings.hpp"
#include "level0_ops/lent_contexts.hpp"

namespace d5::python {

void bind_operator_contexts(py::module_& m) {
  const auto index = py::arg("index");

  py::class_<LentInfer>(m, "InferContext", "Shapes and types of an operator's inputs.")
      .def(
          "shape",
          [](const LentInfer& c, std::size_t i) {
            return std::vector<std::int64_t>(c->shape(i).begin(), c->shape(i).end());
          },
          index)
      .def(
          "dtype",
          [](const LentInfer& c, std::size_t i) { return std::string(name_of(c->dtype(i))); },
          index)
      .def_property_readonly("input_count", [](const LentInfer& c) { return c->input_count(); });
  py::class_<LentOp>(m, "OpContext",
                     "Inputs and outputs of an operator that runs forward; good during the call.")
      .def(
          "input", [](const LentOp& c, std::size_t i) { return lend(c->input(i), c.lease()); },
          index)
      .def(
          "output", [](const LentOp& c, std::size_t i) { return lend(c->output(i), c.lease()); },
          index)
      .def_property_readonly("input_count", [](const LentOp& c) { return c->input_count(); })
      .def_property_readonly("output_count", [](const LentOp& c) { return c->output_count(); });
  py::class_<LentGrad>(m, "GradContext",
                       "Values and gradients of an operator that runs backward; good during the "
                       "call.")
      .def(
          "input", [](const LentGrad& c, std::size_t i) { return lend(c->input(i), c.lease()); },
          index)
      .def(
          "output", [](const LentGrad& c, std::size_t i) { return lend(c->output(i), c.lease()); },
          index)
      .def_property_readonly("input_count", [](const LentGrad& c) { return c->input_count(); })
      .def(
          "wants_grad", [](const LentGrad& c, std::size_t i) { return c->wants_grad(i); }, index)
      .def(
          "has_grad_output", [](const LentGrad& c, std::size_t i) { return c->has_grad_output(i); },
          index)
      .def(
          "grad_output",
          [](const LentGrad& c, std::size_t i) { return lend(c->grad_output(i), c.lease()); },
          index)
      .def(
          "grad_input",
          [](const LentGrad& c, std::size_t i) { return lend(c->grad_input(i), c.lease()); },
          index);
}

}  // namespace d5::python
