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
  for (Parameter& parameter : parameters) prepare_param(parameter);
  const ValueMap& outputs = executor_->inference_and_backprop(feed(batch), loss_);
  const Span span("training", "update");
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    update_rule(parameters[i].gradient, parameters[i], i);
  }
  return outputs;
}

}  // namespace d5
