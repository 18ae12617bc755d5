// SPDX-License-Identifier: Apache-2.0
#include "bindings.hpp"
#include "d5/onnx/file.hpp"

namespace d5::python {

void bind_onnx(py::module_& m) {
  py::class_<onnx::Node>(m, "Node", "One call of an operator in a graph.")
      .def_readonly("name", &onnx::Node::name)
      .def_readonly("op_type", &onnx::Node::op_type)
      .def_readonly("domain", &onnx::Node::domain)
      .def_readonly("opset", &onnx::Node::opset)
      .def_readonly("inputs", &onnx::Node::inputs)
      .def_readonly("outputs", &onnx::Node::outputs)
      .def_property_readonly("attributes",
                             [](const onnx::Node& node) {
                               Values result;
                               for (const auto& [name, value] : node.attributes) {
                                 result[py::cast(name)] = from_attribute(value);
                               }
                               return result;
                             })
      .def("__repr__",
           [](const onnx::Node& node) { return "<d5.Node " + onnx::describe(node) + ">"; });
}

}  // namespace d5::python
