// SPDX-License-Identifier: Apache-2.0
#include "level1_network/python_executor.hpp"

#include <fmt/format.h>

#include "answered.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/stream.hpp"
#include "lent_inputs.hpp"
#include "long_call.hpp"
#include "part_kind.hpp"
#include "python_state.hpp"

namespace d5::python {

PythonExecutor::PythonExecutor(Network network) : network_(std::move(network)) {}

const std::string& PythonExecutor::who() {
  if (node_.op_type.empty()) {
    const py::object type = py::type::of(py::cast(static_cast<GraphExecutor*>(this)));
    const py::object named = type.attr("framework");
    framework_ =
        (py::isinstance<py::str>(named) ? named : type.attr("__name__")).cast<std::string>();
    node_.op_type = framework_;
    node_.name = network_.name();
  }
  return framework_;
}

template <class Work>
const ValueMap& PythonExecutor::run(Pass pass, const Work& work) {
  end_wanted_ = ended_early_ = false;
  outputs_.clear();
  {
    const py::gil_scoped_acquire gil;
    (void)who();
  }
  events_.collect(observers_);
  const StepInfo step{.node = node_, .path = node_.name, .pass = pass, .framework = framework_};
  for (auto* observer : observers_) observer->before_run(pass);
  for (auto* observer : observers_) observer->before_pass(pass);
  ended_early_ = end_wanted_;
  if (!ended_early_) {
    for (auto* observer : observers_) observer->before_node(step);
    call_python(work);
    for (auto* observer : observers_) observer->after_node(step);
    if (pass == Pass::backward) announce_gradients();
  }
  for (auto* observer : observers_) observer->after_pass(pass);
  for (auto* observer : observers_) observer->after_run(pass);
  return outputs_;
}

void PythonExecutor::take(const char* method, const py::object& given) {
  outputs_ = to_values(returned_arrays<GraphExecutor>(this, method, given,
                                                      "the network's outputs, a dict of arrays"));
  for (const std::string& name : network_.output_names()) {
    if (outputs_.contains(name)) continue;
    throw NotFound(fmt::format("{}.{} returned no output '{}', which the network has", framework_,
                               method, printable(name)));
  }
}

const ValueMap& PythonExecutor::inference(const ValueMap& inputs) {
  return run(Pass::forward, [&] {
    const LeaseScope run("an executor's run");
    const py::function method =
        method_of<GraphExecutor>(this, "inference", "inference(inputs), which returns the outputs");
    take("inference", method(lent_inputs(inputs, run.lease())));
  });
}

const ValueMap& PythonExecutor::inference_and_backprop(const ValueMap& inputs,
                                                       std::string_view loss) {
  gradients_.clear();
  return run(Pass::backward, [&] {
    const LeaseScope run("an executor's run");
    const py::function method =
        override_of(static_cast<GraphExecutor*>(this), "inference_and_backprop");
    if (!method) {
      throw Unsupported(fmt::format(
          "{} runs forward alone; it has no inference_and_backprop(inputs, loss)", framework_));
    }
    take("inference_and_backprop", method(lent_inputs(inputs, run.lease()), std::string(loss)));
  });
}

void PythonExecutor::announce_gradients() {
  auto& parameters = network_.parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    gradients_[parameters[i].name] = parameters[i].gradient;
    for (auto* observer : observers_) observer->gradient_ready(parameters[i], i, host_stream());
  }
}

const Tensor& PythonExecutor::gradient(std::string_view name) const {
  const auto found = gradients_.find(name);
  if (found != gradients_.end()) return found->second;
  throw NotFound(fmt::format(
      "there is no gradient of '{}': {} gives those of parameters, after inference_and_backprop",
      printable(name), framework_));
}

ValueMap PythonExecutor::state() const {
  return call_python([&]() -> ValueMap {
    const py::function method = override_of(static_cast<const GraphExecutor*>(this), "state");
    expect_state_pair(py::cast(this), "GraphExecutor");
    return method ? to_state(method(), framework_ + ".state()") : ValueMap();
  });
}

void PythonExecutor::restore(const ValueMap& state) {
  call_python([&] {
    const py::function method = override_of(static_cast<const GraphExecutor*>(this), "restore");
    if (method) method(copy_values(state));
  });
}

}  // namespace d5::python
