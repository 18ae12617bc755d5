// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "d5/core/trace.hpp"
#include "d5/level2_training/optimizer.hpp"

namespace d5 {

ThreeStepOptimizer::ThreeStepOptimizer(std::shared_ptr<GraphExecutor> executor, std::string loss)
    : executor_(std::move(executor)), loss_(std::move(loss)) {
  const auto outputs = executor_->network().output_names();
  if (std::find(outputs.begin(), outputs.end(), loss_) == outputs.end()) {
    throw_unknown_name(fmt::format("network '{}': output", printable(executor_->network().name())),
                       loss_, outputs);
  }
}

const ValueMap& ThreeStepOptimizer::step(const Batch& batch) {
  new_input();
  auto& parameters = executor_->network().parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) prepare(i);
  const ValueMap& outputs = executor_->inference_and_backprop(feed(batch), loss_);
  if (executor_->ended_early()) return outputs;
  const Span span("training", "update");
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    update(i);
  }
  return outputs;
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
  Parameter& parameter = executor_->network().parameters()[index];
  if (parameter.value.device() == Device{}) return prepare_param(parameter);
  Parameter& twin = twin_of(parameter, index);
  twin.value.copy_from(parameter.value);
  prepare_param(twin);
  parameter.value.copy_from(twin.value);
}

void ThreeStepOptimizer::update(std::size_t index) {
  Parameter& parameter = executor_->network().parameters()[index];
  if (parameter.value.device() == Device{}) {
    return update_rule(parameter.gradient, parameter, index);
  }
  executor_->synchronise();  // the gradient is final when the device has done its work
  Parameter& twin = twin_of(parameter, index);
  twin.value.copy_from(parameter.value);
  twin.gradient.copy_from(parameter.gradient);
  update_rule(twin.gradient, twin, index);
  parameter.value.copy_from(twin.value);
}

}  // namespace d5
