// SPDX-License-Identifier: Apache-2.0
#include "level1_network/plan/plan.hpp"

#include <algorithm>
#include <set>
#include <type_traits>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/device_memory.hpp"

namespace d5 {
namespace {

template <class T>
T rounded(double number) {
  if constexpr (std::is_same_v<T, double>)
    return number;
  else
    return T(static_cast<float>(number));
}

/// Allocates the gradient of a value with a dynamic shape. A value that is not floating-point ends
/// the path: its gradient stays zero.
Tensor room_for(const Value& value, const Plan::BackwardStep& step, RunState& state) {
  if (!value.is_tensor()) {
    throw Unsupported(step.context.who() + ": only tensors have gradients, but on the path lies " +
                      to_string(value.desc()));
  }
  Tensor result = state.allocate(value.tensor().desc(), "a gradient of " + step.context.who());
  if (!is_floating_point(result.dtype())) queue_zero(result, state.stream(result.device()));
  return result;
}

void run_step(Plan::BackwardStep& step, RunState& state) {
  for (const auto& [gradient, value] : step.to_allocate) {
    *gradient = room_for(*value, step, state);
  }
  for (Tensor* gradient : step.accumulated) queue_zero(*gradient, state.stream(gradient->device()));
  step.kernel->backward(step.context);
  for (GradientSum* sum : step.sums) sum->run(step.context.stream());
}

}  // namespace

void expect_scalar(const std::string& name, const TensorDesc& desc) {
  if (desc.elements() == 1) return;
  throw ShapeError("loss '" + printable(name) + "' is " + to_string(desc) +
                   ", but a loss must be a scalar; reduce it to one element");
}

void Plan::run_forward(std::uint64_t value_changes) {
  if (kept_of != value_changes) [[unlikely]]
    for (ForwardStep& step : kept) step.kernel->forward(step.context);
  kept_of = value_changes;
  for (ForwardStep& step : forward) step.kernel->forward(step.context);
}

void Plan::renew_kept(const Observers& observers) {
  for (std::size_t i = 0; i < kept.size(); ++i) {
    for (auto* observer : observers.all) observer->before_node(kept_infos[i]);
    kept[i].kernel->forward(kept[i].context);
    for (auto* observer : observers.all) observer->after_node(kept_infos[i]);
  }
}

std::size_t Plan::run_forward(std::uint64_t value_changes, const Observers& observers) {
  for (auto* observer : observers.all) observer->before_pass(Pass::forward);
  if (kept_of != value_changes && !observers.ended) {
    renew_kept(observers);
    kept_of = value_changes;
  }
  std::size_t done = 0;
  for (; done < forward.size() && !observers.ended; ++done) {
    for (auto* observer : observers.all) observer->before_node(infos[done]);
    forward[done].kernel->forward(forward[done].context);
    for (auto* observer : observers.all) observer->after_node(infos[done]);
  }
  for (auto* observer : observers.all) observer->after_pass(Pass::forward);
  return done;
}

namespace {

template <class Run>
void run_observed(const StepInfo& info, std::span<ExecutionEvent* const> observers,
                  const Run& run) {
  for (auto* observer : observers) observer->before_nested_node(info);
  run();
  for (auto* observer : observers) observer->after_nested_node(info);
}

}  // namespace

void Plan::run_nested(std::span<ExecutionEvent* const> observers) {
  constexpr std::uint64_t kNoChanges = 0;  // its constants stay as they are
  if (observers.empty()) return run_forward(kNoChanges);
  if (kept_of != kNoChanges) {
    for (ForwardStep& step : kept) step.kernel->forward(step.context);
  }
  kept_of = kNoChanges;
  for (std::size_t i = 0; i < forward.size(); ++i) {
    run_observed(infos[i], observers, [&] { forward[i].kernel->forward(forward[i].context); });
  }
}

void Plan::run_nested_backward(RunState& state, std::span<ExecutionEvent* const> observers) {
  if (observers.empty()) return run_backward(state);
  begin_backward(state);
  auto info = infos.begin() + std::ptrdiff_t(forward.size());
  for (BackwardStep& step : backward) {  // nothing in it is recomputed
    run_observed(*info++, observers, [&] { run_step(step, state); });
  }
}

void Plan::begin_backward(RunState& state) {
  for (Tensor& gradient : zero_gradients) queue_zero(gradient, state.stream(gradient.device()));
  for (const auto& [gradient, value] : dynamic_zeros) {
    *gradient = state.allocate(value->tensor().desc(), "a gradient that is zero");
    queue_zero(*gradient, state.stream(gradient->device()));
  }
  if (!loss_value) return;
  const Tensor& value = loss_value->tensor();
  expect_scalar(loss, value.desc());
  const bool elsewhere = value.device() != Device{};
  if (elsewhere && loss_factor == state.loss_factor) return;  // it lies there since the last run
  if (!loss_gradient->defined() || loss_gradient->desc() != value.desc()) {
    *loss_gradient = Tensor::empty(value.desc());
  }
  loss_factor = state.loss_factor;
  Tensor written = elsewhere ? Tensor::empty(value.dtype(), value.shape()) : *loss_gradient;
  dispatch(FloatTypes{}, value.dtype(), "loss",
           [&]<class T>() { *written.data<T>() = rounded<T>(loss_factor); });
  if (elsewhere) loss_gradient->copy_from(written);
}

void Plan::run_backward(RunState& state) {
  begin_backward(state);
  auto next = again.begin();
  for (BackwardStep& step : backward) {
    for (std::size_t n = 0; n < step.again; ++n, ++next) next->kernel->forward(next->context);
    run_step(step, state);
  }
}

std::size_t Plan::run_backward(RunState& state, std::vector<Parameter>& parameters,
                               const Observers& observers) {
  for (auto* observer : observers.all) observer->before_pass(Pass::backward);
  std::size_t done = 0;
  begin_backward(state);
  std::size_t announced = 0;
  const auto announce = [&](std::size_t final) {
    for (; announced < final; ++announced) {
      Parameter& parameter = parameters[announced];
      Stream& stream = state.stream(parameter.gradient.device());
      for (auto* observer : observers.all) observer->gradient_ready(parameter, announced, stream);
    }
  };
  announce(final_at_start);
  auto info = infos.begin() + std::ptrdiff_t(forward.size());
  const auto observe = [&](const auto& run) {
    for (auto* observer : observers.all) observer->before_node(*info);
    run();
    for (auto* observer : observers.all) observer->after_node(*info);
    ++info;
  };
  auto next = again.begin();
  for (; done < backward.size() && !observers.ended; ++done) {
    BackwardStep& step = backward[done];
    for (std::size_t n = 0; n < step.again; ++n, ++next) {
      observe([&] { next->kernel->forward(next->context); });
    }
    observe([&] { run_step(step, state); });
    announce(step.final_parameters);
  }
  for (auto* observer : observers.all) observer->after_pass(Pass::backward);
  return done;
}

/// A kernel that replaces an output with planned memory would leave the readers with memory that
/// the plan reuses for other values.
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
  host_reads.wait();
}

ValueMap Plan::finish_early(std::size_t forward_steps) {
  std::set<const Value*> missing;
  for (std::size_t i = forward_steps; i < forward.size(); ++i) {
    missing.insert(forward[i].context.outputs.begin(), forward[i].context.outputs.end());
  }
  ValueMap computed;
  for (const auto& [name, source] : output_sources) {
    if (!missing.contains(source)) computed[name] = *source;
  }
  host_reads.wait();
  return computed;
}

}  // namespace d5
