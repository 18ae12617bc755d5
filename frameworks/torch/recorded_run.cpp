// SPDX-License-Identifier: Apache-2.0
// Runs of a compiled network: forward, with or without recording, and backward.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>

#include "compiled_network.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "tensor_view.hpp"

namespace d5::torch {
namespace {

void expect_floats(const std::string& name, const at::Tensor& value) {
  if (at::isFloatingType(value.scalar_type())) return;
  throw TypeError("the gradient of '" + printable(name) + "' is asked for, but it is " +
                  std::string(name_of(dtype_of_scalar(value.scalar_type()))) +
                  "; only tensors of real numbers have gradients");
}

}  // namespace

/// Makes autograd keep the gradient of `value` from now on. An alias represents it, because a
/// function may return its argument.
void CompiledNetwork::ask_for(const std::string& name, at::Tensor& value, Recording& recording) {
  expect_floats(name, value);
  if (value.requires_grad()) {
    value = value.view_as(value);
    value.retain_grad();
  } else {
    value = value.detach().requires_grad_(true);
  }
  recording.asked[name] = value;
}

/// Detects that a gradient's path ended within the step, though floating-point values continued.
void CompiledNetwork::find_break(const Step& step) {
  const auto& inputs = step.planned.inputs();
  const Places differentiable = step.planned.differentiable();
  const onnx::Node* broken = nullptr;
  bool wanted = false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] < 0) continue;
    const std::size_t place = std::size_t(inputs[i]);
    wanted = wanted || values_[place].requires_grad();
    const bool carries = differentiable.empty() || differentiable.contains(i);
    if (carries && !broken) broken = broken_by_[place];
  }
  if (!broken && wanted && differentiable.empty()) broken = &step.info.node;
  for (const int output : step.planned.outputs()) {
    if (output < 0) continue;
    const at::Tensor& value = values_[std::size_t(output)];
    const bool carries = value.defined() && at::isFloatingType(value.scalar_type());
    const bool passed = broken == &step.info.node && value.requires_grad();  // torch can
    broken_by_[std::size_t(output)] = carries && !passed ? broken : nullptr;
  }
}

void CompiledNetwork::record(Step& step, Recording& recording) {
  find_break(step);
  if (const int first = step.planned.outputs()[0]; first >= 0) {
    gradients_.expect(values_[std::size_t(first)], step.parameters);
  }
  for (const auto& name : step.asked) {
    ask_for(name, values_[std::size_t(places_.find(name)->second)], recording);
  }
}

std::size_t CompiledNetwork::run(const Random& random, const Observers& observers,
                                 Recording* recording) {
  if (recording) {
    for (const auto& name : options_.gradients) {
      if (places_.contains(name)) continue;
      std::vector<std::string> known;
      for (const auto& [other, place] : places_) known.push_back(other);
      throw_unknown_name("tensor", name, known);
    }
    broken_by_.assign(values_.size(), nullptr);
    for (const auto& name : asked_before_) {
      at::Tensor& value = values_[std::size_t(places_.find(name)->second)];
      value = value.detach();
      ask_for(name, value, *recording);
    }
  }
  for (auto* observer : observers.all) observer->before_pass(Pass::forward);
  std::size_t done = 0;
  for (; done < steps_.size() && !observers.ended; ++done) {
    Step& step = steps_[done];
    for (auto* observer : observers.all) observer->before_node(step.info);
    step.planned.run(values_, known_, random);
    step.info.cost = step.planned.cost();
    if (recording) record(step, *recording);
    for (const int place : step.finished) values_[std::size_t(place)].reset();
    for (auto* observer : observers.all) observer->after_node(step.info);
  }
  for (auto* observer : observers.all) observer->after_pass(Pass::forward);
  if (recording && is_whole(done)) {
    for (const auto& [name, place] : output_places_) {
      recording->outputs[name] = {values_[place], broken_by_[place]};
    }
  }
  return done;
}

CompiledNetwork::Gradients CompiledNetwork::go_back(
    Recording& recording, const std::map<std::string, at::Tensor>& slopes) {
  std::vector<at::Tensor> roots, root_slopes;
  for (const auto& [name, slope] : slopes) {
    const Recording::Output& output = recording.outputs.find(name)->second;
    if (output.broken_by) {
      throw Unsupported(onnx::describe(*output.broken_by) +
                        " has no gradient, but lies between output '" + printable(name) +
                        "' and what gradients are wanted for");
    }
    if (!output.value.requires_grad()) continue;
    roots.push_back(output.value);
    root_slopes.push_back(slope);
  }
  gradients_.backward(roots, root_slopes);
  Gradients result;
  for (auto& [name, tensor] : recording.asked) {
    const at::Tensor gradient = std::exchange(tensor.mutable_grad(), {});
    result[name] =
        share(gradient.defined() ? gradients_.moved_out(gradient) : at::zeros_like(tensor));
  }
  recording = {};  // autograd's graph may hold memory of the arena
  gradients_.finish();
  return result;
}

}  // namespace d5::torch
