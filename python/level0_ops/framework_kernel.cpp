// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/framework_kernel.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "errors.hpp"
#include "level0_ops/planned_node.hpp"
#include "level0_ops/python_results.hpp"
#include "long_call.hpp"

namespace d5::python {
namespace {

class FrameworkKernel final : public Kernel {
 public:
  FrameworkKernel(const std::string& framework, const py::object& kernel,
                  const PlanContext& context)
      : framework_(framework),
        kernel_(kernel),
        forward_(kernel.attr("forward")),
        backward_(py::getattr(kernel, "backward", py::none())) {
    // Results are complete before the first is copied, because one may overwrite an input.
    if (context.output_count() == 1) traits_.in_place_output = 0;
    const auto reads = [&](const char* name) {
      return py::getattr(kernel, name, py::bool_(true)).cast<bool>() ? Places::all() : Places();
    };
    traits_.backward_reads_inputs = reads("backward_reads_inputs");
    traits_.backward_reads_outputs = reads("backward_reads_outputs");
  }

  void forward(OpContext& context) override {
    const Who who = [&] { return who_in(context.node()); };
    call_framework(who, [&] {
      const LeaseScope call("a kernel's call");
      const PythonResults results(who, forward_.object(to_list(context.inputs, call.lease())),
                                  context.output_count(), "output");
      for (std::size_t k = 0; k < context.output_count(); ++k) {
        if (context.wants_output(k)) write(results, k, context);
      }
    });
  }
  void backward(GradContext& context) override {
    const Who who = [&] { return who_in(context.node()); };
    call_framework(who, [&] {
      const LeaseScope call("a kernel's call");
      const SharedLease& lease = call.lease();
      py::list gradients;
      for (const Tensor* gradient : context.grad_outputs) {
        gradients.append(to_python(gradient, lease));
      }
      const PythonResults results(who,
                                  backward_.object(to_list(context.inputs, lease),
                                                   to_list(context.outputs, lease), gradients),
                                  context.input_count(), "input gradient");
      for (std::size_t i = 0; i < context.input_count(); ++i) {
        if (context.wants_grad(i)) results.write(i, context.grad_input(i));
      }
    });
  }
  [[nodiscard]] KernelTraits traits() const override { return traits_; }

 private:
  [[nodiscard]] std::string who_in(const onnx::Node& node) const {
    return onnx::describe(node) + ": " + framework_;
  }
  static void write(const PythonResults& results, std::size_t k, OpContext& context) {
    if (context.planned_outputs.contains(k)) return results.write(k, context.output(k));
    const Tensor result = results.tensor(k);
    context.allocate(k, {result.dtype(), result.shape()}).copy_from(result);
  }

  std::string framework_;
  PythonReference kernel_, forward_, backward_;
  KernelTraits traits_;
};

}  // namespace

std::unique_ptr<Kernel> plan_kernel(const std::string& framework, const PythonReference& plan,
                                    const PlanContext& context) {
  const py::gil_scoped_acquire gil;
  try {
    const py::object kernel =
        call_python([&] { return plan.object(py::cast(PlannedNode(context))); });
    if (context.wants_backward() && !overrides(kernel, "Kernel", "backward")) {
      throw Unsupported(fmt::format("{}: its kernel has no backward", context.who()));
    }
    return std::make_unique<FrameworkKernel>(framework, kernel, context);
  } catch (py::error_already_set& raised) {
    // The caller that asks for kernels names the framework that cannot make one.
    const bool refused = raised.matches(py::module_::import("d5.errors").attr("Unsupported"));
    throw_as_d5(raised, refused ? context.who() : context.who() + ": " + framework);
  }
}

}  // namespace d5::python
