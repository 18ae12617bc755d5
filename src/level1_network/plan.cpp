// SPDX-License-Identifier: Apache-2.0
#include "level1_network/plan.hpp"

#include <algorithm>
#include <cstring>

#include "d5/core/error.hpp"

namespace d5 {
namespace {

template <class T>
void add(Tensor& into, const Tensor& term) {
  T* a = into.data<T>();
  const T* b = term.data<T>();
  for (std::int64_t i = 0, n = into.elements(); i < n; ++i) {
    a[i] = T(Arithmetic<T>(a[i]) + Arithmetic<T>(b[i]));
  }
}

void add_up(std::span<const Plan::Sum> sums) {
  for (const auto& [into, term] : sums) {
    dispatch(FloatTypes{}, into->dtype(), "sum of gradients",
             [&]<class T>() { add<T>(*into, *term); });
  }
}

void run_step(Plan::BackwardStep& step, RunState& state) {
  for (const auto& [gradient, value] : step.to_allocate) {
    *gradient = state.allocate(value->tensor().desc());
  }
  step.kernel->backward(step.context);
  add_up(step.sums);
}

}  // namespace

void Plan::run_forward() {
  for (ForwardStep& step : forward) step.kernel->forward(step.context);
}

void Plan::run_forward(std::span<ExecutionEvent* const> observers) {
  for (std::size_t i = 0; i < forward.size(); ++i) {
    for (auto* observer : observers) observer->before_node(infos[i]);
    forward[i].kernel->forward(forward[i].context);
    for (auto* observer : observers) observer->after_node(infos[i]);
  }
}

void Plan::begin_backward(RunState& state) {
  const Tensor& value = loss_value->tensor();
  if (value.elements() != 1) {
    throw ShapeError("loss '" + printable(loss) + "' is " + to_string(value.desc()) +
                     ", but gradients are those of a scalar; reduce it to one element");
  }
  if (!loss_gradient->defined() || loss_gradient->desc() != value.desc()) {
    *loss_gradient = state.allocate(value.desc());
  }
  dispatch(FloatTypes{}, value.dtype(), "loss",
           [&]<class T>() { *loss_gradient->data<T>() = T(1.0f); });
  for (Tensor& gradient : zero_gradients) std::memset(gradient.raw(), 0, gradient.bytes());
}

void Plan::run_backward(RunState& state) {
  begin_backward(state);
  for (BackwardStep& step : backward) run_step(step, state);
}

void Plan::run_backward(RunState& state, std::vector<Parameter>& parameters,
                        std::span<ExecutionEvent* const> observers) {
  begin_backward(state);
  std::size_t announced = 0;
  const auto announce = [&](std::size_t final) {
    for (; announced < final; ++announced) {
      for (auto* observer : observers) observer->gradient_ready(parameters[announced], announced);
    }
  };
  announce(final_at_start);
  for (std::size_t i = 0; i < backward.size(); ++i) {
    BackwardStep& step = backward[i];
    const StepInfo& info = infos[forward.size() + i];
    for (auto* observer : observers) observer->before_node(info);
    run_step(step, state);
    for (auto* observer : observers) observer->after_node(info);
    announce(step.final_parameters);
  }
}

/// A kernel that replaced an output whose memory was planned would leave its readers with memory
/// that the plan gives to others.
void Plan::check_planned() const {
  for (const Planned& output : planned) {
    if (output.value->is_tensor() && output.value->tensor().raw() == output.memory) continue;
    throw ContractError(
        onnx::describe(*output.node) +
        ": its kernel replaced an output that infer described; it has to write into it");
  }
}

void Plan::finish() {
  if (!checked_) {
    check_planned();
    checked_ = true;
  }
  for (const Output& output : changing_outputs) *output.answer = *output.source;
  for (Update& update : updates) update.constant.copy_from(update.source->tensor());
}

}  // namespace d5
