// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "bindings.hpp"
#include "d5/core/framework.hpp"
#include "d5/level0_ops/level0_ops.hpp"
#include "d5/version.hpp"

namespace d5::python {
namespace {

constexpr auto kReference = py::return_value_policy::reference;

/// Calls forward and backward of a Python object.
class PythonKernel final : public Kernel {
 public:
  explicit PythonKernel(const py::object& self) : self_(self) {}
  void forward(OpContext& context) override {
    const py::gil_scoped_acquire gil;
    self_.object.attr("forward")(py::cast(&context, kReference));
  }
  void backward(GradContext& context) override {
    const py::gil_scoped_acquire gil;
    self_.object.attr("backward")(py::cast(&context, kReference));
  }

 private:
  PythonReference self_;
};

/// An operator whose methods are a Python object's: forward, and infer, backward and flop where it
/// has them.
class PythonOperator final : public Operator {
 public:
  PythonOperator(py::object self, bool has_backward)
      : self_(std::move(self)), has_backward_(has_backward) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const py::gil_scoped_acquire gil;
    if (!py::hasattr(self_.object, "infer")) return {context.input(0)};
    std::vector<ValueDesc> result;
    for (const auto& item : self_.object.attr("infer")(py::cast(&context, kReference))) {
      const auto [dtype, dims] = item.cast<std::pair<std::string, std::vector<std::int64_t>>>();
      result.emplace_back(TensorDesc{dtype_from_name(dtype), Shape(dims)});
    }
    return result;
  }
  Places gradients() const override { return has_backward_ ? Places::all() : Places(); }
  Cost cost(const InferContext& context) const override {
    const py::gil_scoped_acquire gil;
    if (!py::hasattr(self_.object, "flop")) return bytes_only(context);
    return with_flop(context,
                     self_.object.attr("flop")(py::cast(&context, kReference)).cast<double>());
  }
  std::unique_ptr<Kernel> plan(PlanContext&) const override {
    const py::gil_scoped_acquire gil;
    return std::make_unique<PythonKernel>(self_.object);
  }

 private:
  PythonReference self_;
  bool has_backward_;
};

void register_operator(const py::object& type, const std::string& name, const std::string& domain,
                       int since) {
  const auto held = std::make_shared<PythonReference>(type);
  const bool has_backward = overrides(type(), "Operator", "backward");
  framework("python").part<OperatorRegistry>().add(
      name, {.since = since, .domain = domain}, [held, has_backward](const onnx::Node& node) {
        const py::gil_scoped_acquire gil;
        py::object self = held->object();
        self.attr("attributes") = py::cast(node).attr("attributes");
        return std::make_unique<PythonOperator>(std::move(self), has_backward);
      });
}

}  // namespace

void bind_level0_ops(py::module_& m) {
  add_framework("python", D5_VERSION, [](Framework&) {});

  py::class_<InferContext>(m, "InferContext", "Shapes and types of an operator's inputs.")
      .def("shape",
           [](const InferContext& c, std::size_t i) {
             return std::vector<std::int64_t>(c.shape(i).begin(), c.shape(i).end());
           })
      .def("dtype",
           [](const InferContext& c, std::size_t i) { return std::string(name_of(c.dtype(i))); })
      .def_property_readonly("input_count", &InferContext::input_count);
  // Tensors here live as long as the run: they are for use inside forward and backward only.
  py::class_<OpContext>(m, "OpContext", "Inputs and outputs of an operator that runs forward.")
      .def("input", [](const OpContext& c, std::size_t i) { return c.input(i); })
      .def("output", [](const OpContext& c, std::size_t i) { return c.output(i); })
      .def_property_readonly("input_count", &OpContext::input_count);
  py::class_<GradContext>(m, "GradContext",
                          "Values and gradients of an operator that runs backward.")
      .def("input", [](const GradContext& c, std::size_t i) { return c.input(i); })
      .def("output", [](const GradContext& c, std::size_t i) { return c.output(i); })
      .def("wants_grad", &GradContext::wants_grad)
      .def("grad_output", [](const GradContext& c, std::size_t i) { return c.grad_output(i); })
      .def("grad_input", [](const GradContext& c, std::size_t i) { return c.grad_input(i); });

  m.def("register_operator", &register_operator, py::arg("type"), py::arg("name"),
        py::arg("domain") = "", py::arg("since") = 1,
        "Makes a class with infer, forward and backward an operator of the framework 'python'.");

  m.def(
      "operators",
      [](const std::string& name) {
        std::vector<std::string> names;
        for (const auto& entry : framework(name).part<OperatorRegistry>().list()) {
          names.push_back(entry.domain.empty() ? entry.name : entry.domain + "." + entry.name);
        }
        return names;
      },
      py::arg("framework") = "reference", "Names of a framework's operators.");

  m.def(
      "test_forward",
      [](const std::string& line, const std::string& framework, const std::string& reference) {
        return test_forward(parse_case(line), framework, reference);
      },
      py::arg("case"), py::arg("framework"), py::arg("reference") = "reference",
      py::call_guard<py::gil_scoped_release>(), "Compares an operator with another framework's.");
  m.def(
      "test_gradient",
      [](const std::string& line, const std::string& framework) {
        return test_gradient(parse_case(line), framework);
      },
      py::arg("case"), py::arg("framework") = "reference", py::call_guard<py::gil_scoped_release>(),
      "Checks backward against central differences.");
}

}  // namespace d5::python
