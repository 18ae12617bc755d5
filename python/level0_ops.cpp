// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <memory>

#include "bindings.hpp"
#include "d5/core/framework.hpp"
#include "d5/level0_ops/level0_ops.hpp"
#include "long_call.hpp"

namespace d5::python {
namespace {

constexpr auto kReference = py::return_value_policy::reference;

/// Calls forward and backward of a Python object.
class PythonKernel final : public Kernel {
 public:
  explicit PythonKernel(const py::object& self) : self_(self) {}
  void forward(OpContext& context) override {
    call_python([&] { self_.object.attr("forward")(py::cast(&context, kReference)); });
  }
  void backward(GradContext& context) override {
    call_python([&] { self_.object.attr("backward")(py::cast(&context, kReference)); });
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
    return call_python([&]() -> std::vector<ValueDesc> {
      if (!py::hasattr(self_.object, "infer")) return {context.input(0)};
      std::vector<ValueDesc> result;
      for (const auto& item : self_.object.attr("infer")(py::cast(&context, kReference))) {
        const auto [dtype, dims] = item.cast<std::pair<std::string, std::vector<std::int64_t>>>();
        result.emplace_back(TensorDesc{dtype_from_name(dtype), Shape(dims)});
      }
      return result;
    });
  }
  Places gradients() const override { return has_backward_ ? Places::all() : Places(); }
  Cost cost(const InferContext& context) const override {
    return call_python([&] {
      if (!py::hasattr(self_.object, "flop")) return bytes_only(context);
      const py::object flop = self_.object.attr("flop")(py::cast(&context, kReference));
      return with_flop(context, flop.cast<double>());
    });
  }
  std::unique_ptr<Kernel> plan(PlanContext&) const override {
    const py::gil_scoped_acquire gil;
    return std::make_unique<PythonKernel>(self_.object);
  }

 private:
  PythonReference self_;
  bool has_backward_;
};

/// Done again, as a notebook's cell is, the new class takes the former one's place.
void register_operator(const Anything& type, const std::string& name, const std::string& domain,
                       int since) {
  const bool has_backward = overrides(type(), "Operator", "backward");
  const auto held = std::make_shared<PythonReference>(type);
  const auto make = [held, has_backward](const onnx::Node& node) {
    return call_python([&] {
      py::object self = held->object();
      self.attr("attributes") = py::cast(node).attr("attributes");
      return std::make_unique<PythonOperator>(std::move(self), has_backward);
    });
  };
  add_custom_operator(name, {.since = since, .domain = domain}, make, IfTaken::replace);
}

Measurements check(const std::function<std::vector<Measurement>(const Interrupt&)>& test) {
  std::vector<Measurement> rows;
  long_call([&](const Interrupt& interrupt) { rows = test(interrupt); });
  return Measurements(rows);
}

}  // namespace

void bind_level0_ops(py::module_& m) {
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

  m.def("register_operator", &register_operator, py::arg("type"), py::arg("name"),
        py::arg("domain") = "", py::arg("since") = 1,
        "Makes a class with infer, forward and backward a custom operator.");
  m.def(
      "compile_operators",
      [](const std::string& source) {
        std::string library;
        long_call([&](const Interrupt&) { library = build_operators(source); });
        return load_custom_operators(library, IfTaken::replace);
      },
      py::arg("source"), "Compiles operators against d5/abi.h, adds them, returns their names.");
  m.def("load_extension", &load_extension, py::arg("path"),
        "Loads a library of operators or a plug-in; returns what it was.");
  m.def("custom_op_from_native", &custom_op_from_native, py::arg("framework"), py::arg("function"),
        "Makes a framework's own function, as aten::silu, a custom operator; returns its name.");

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
      [](const std::string& line, const std::string& framework, const std::string& reference,
         bool exact, const std::string& heatmaps, double isolate) {
        return check([&](const Interrupt& interrupt) {
          return test_forward(parse_case(line), framework,
                              {.reference = reference,
                               .exact = exact,
                               .interrupt = interrupt,
                               .heatmaps = heatmaps,
                               .isolation = {.most_seconds = isolate, .interrupt = interrupt}});
        });
      },
      py::arg("case"), py::arg("framework"), py::arg("reference") = "reference",
      py::arg("exact") = false, py::kw_only(), py::arg("heatmaps") = "", py::arg("isolate") = 0.0,
      "Compares an operator with another framework's; if `exact`, computed there in float64. The "
      "folder gets pictures of where outputs differ. With isolate=S in a process of its own for at "
      "most S seconds: a crash, or no end, is a failed row.");
  m.def(
      "test_repeatability",
      [](const std::string& line, const std::string& framework, int runs,
         const std::string& heatmaps) {
        return check([&](const Interrupt& interrupt) {
          return test_repeatability(parse_case(line), framework,
                                    {.runs = runs, .heatmaps = heatmaps, .interrupt = interrupt});
        });
      },
      py::arg("case"), py::arg("framework") = "reference",
      py::arg("runs") = RepeatabilityOptions{}.runs, py::arg("heatmaps") = "",
      "Compares the bits of outputs and gradients over runs; the folder gets pictures of how they "
      "vary.");
  m.def(
      "absolute_difference",
      [](const Anything& got, const Anything& expected) {
        return absolute_difference(to_tensor(got), to_tensor(expected));
      },
      py::arg("got"), py::arg("expected"), "|got - expected|, element by element, in float64.");
  m.def(
      "heatmap", [](const Anything& values) { return heatmap(to_tensor(values)); },
      py::arg("values"),
      "A picture of the sizes of a tensor's elements: uint8, height x width x 3.");
  m.def(
      "test_gradient",
      [](const std::string& line, const std::string& framework, double isolate) {
        return check([&](const Interrupt& interrupt) {
          return test_gradient(parse_case(line), framework,
                               {.interrupt = interrupt,
                                .isolation = {.most_seconds = isolate, .interrupt = interrupt}});
        });
      },
      py::arg("case"), py::arg("framework") = "reference", py::kw_only(), py::arg("isolate") = 0.0,
      "Checks backward against central differences. With isolate=S in a process of its own, as "
      "test_forward.");
}

}  // namespace d5::python
