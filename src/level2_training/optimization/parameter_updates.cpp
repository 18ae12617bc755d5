// SPDX-License-Identifier: Apache-2.0
// Updates of an optimizer: selection of parameters, host or device, and notification of readers.
#include <algorithm>
#include <utility>

#include "d5/core/trace/trace.hpp"
#include "d5/level2_training/optimization/optimizer.hpp"
#include "level2_training/optimization/shared/on_host.hpp"

namespace d5 {

void ThreeStepOptimizer::update_range(ParameterRange range, std::size_t part) {
  if (!judged_) tell_gradients(range);
  Span span("training", "update");
  span.argument("part", part);
  update_parameters(range, factor_);
}

void ThreeStepOptimizer::update_parameters(ParameterRange range, double factor) {
  for (std::size_t i = range.begin; i < range.end; ++i) update_one(i, factor);
}

void ThreeStepOptimizer::update_own(std::vector<ParameterRange> own, ValueSharing sharing) {
  own_ = std::move(own);
  sharing_ = std::move(sharing);
  forget_others();
}

void ThreeStepOptimizer::share_until(std::size_t end) {
  if (!sharing_.start) return;
  for (; shared_ < std::min(end, own_.size()); ++shared_) sharing_.start(shared_);
}

void ThreeStepOptimizer::share_all() {
  shared_ = 0;
  share_until(own_.size());
  if (sharing_.finish) sharing_.finish();
}

bool ThreeStepOptimizer::updates(std::size_t parameter) const {
  return own_.empty() || std::ranges::any_of(own_, [&](const ParameterRange& range) {
           return range.begin <= parameter && parameter < range.end;
         });
}

Parameter& ThreeStepOptimizer::twin_of(const Parameter& parameter, std::size_t index) {
  if (twins_.size() <= index) twins_.resize(index + 1);
  Parameter& twin = twins_[index];
  if (twin.name != parameter.name || twin.value.shape() != parameter.value.shape()) {
    const DType dtype = parameter.value.dtype();
    const Shape& shape = parameter.value.shape();
    twin = {parameter.name, Tensor::zeros(dtype, shape), Tensor::zeros(dtype, shape)};
  }
  return twin;
}

void ThreeStepOptimizer::prepare(std::size_t index) {
  Parameter& parameter = executor().network().parameters()[index];
  if (parameter.value.device() == Device{}) return prepare_param(parameter);
  Parameter& twin = twin_of(parameter, index);
  twin.value.copy_from(parameter.value);
  prepare_param(twin);
  parameter.value.copy_from(twin.value);
}

void ThreeStepOptimizer::update_one(std::size_t index, double factor) {
  Parameter& parameter = executor().network().parameters()[index];
  if (parameter.value.device() == Device{}) {
    if (factor != 1) detail::scale(parameter.gradient, factor);
    return update_rule(parameter.gradient, parameter, index);
  }
  executor().synchronise();  // the gradient is final when the device has done its work
  Parameter& twin = twin_of(parameter, index);
  twin.value.copy_from(parameter.value);
  twin.gradient.copy_from(parameter.gradient);
  if (factor != 1) detail::scale(twin.gradient, factor);
  update_rule(twin.gradient, twin, index);
  parameter.value.copy_from(twin.value);
}

}  // namespace d5
