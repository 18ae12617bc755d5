// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "bindings.hpp"
#include "d5/core/entries/loadable_frameworks.hpp"
#include "d5/level0_ops/bench/operator_matrix.hpp"

namespace d5::python {
namespace {

std::vector<std::string> names_of(const std::vector<DType>& types) {
  std::vector<std::string> names;
  for (const DType type : types) names.emplace_back(name_of(type));
  return names;
}

}  // namespace

void bind_operator_support(py::module_& m) {
  py::class_<OperatorSupport>(m, "OperatorSupport", "Support of one framework for one operator.")
      .def_readonly("name", &OperatorSupport::name, "\"Conv\", \"ai.onnx.ml.Scaler\".")
      .def_readonly("framework", &OperatorSupport::framework, "Name of the framework: \"torch\".")
      .def_readonly("opsets", &OperatorSupport::opsets, "\"1+\", \"1-9 11+\".")
      .def_property_readonly(
          "types", [](const OperatorSupport& s) { return names_of(s.types); },
          "Element types of inputs and outputs that it supports.")
      .def_property_readonly(
          "gradient_types", [](const OperatorSupport& s) { return names_of(s.gradient_types); },
          "Element types that its backward supports.")
      .def_readonly("passed", &OperatorSupport::passed,
                    "Number of ONNX's test cases that the framework passed, of `cases`.")
      .def_readonly("cases", &OperatorSupport::cases,
                    "Number of ONNX's test cases that contain the operator.")
      .def("__repr__", [](const OperatorSupport& s) {
        return fmt::format("<d5.OperatorSupport {} in {}: {} of {} cases>", printable(s.name),
                           printable(s.framework), s.passed, s.cases);
      });
  m.def(
      "supported_operators", &supported_operators,
      py::arg("frameworks") = std::vector<std::string>{}, py::call_guard<py::gil_scoped_release>(),
      "Support of each operator in `frameworks`, which are loaded (\"all\": every framework that "
      "can be). Without any: the stored facts of those that were found here: `d5 list operators`.");
  m.def(
      "operator_matrix",
      [](const std::vector<OperatorSupport>& rows) {
        return operator_matrix(rows).to_text(Format::table);
      },
      py::arg("rows"),
      "A table for people: a row per operator, a column per framework, \"12/12 ∇\".");
  m.def(
      "framework_words",
      [](const std::vector<std::string>& words) { return framework_words(words); },
      py::arg("words"), py::call_guard<py::gil_scoped_release>(),
      "`words` with \"all\" replaced by every framework that can be loaded, each once.");
}

}  // namespace d5::python
