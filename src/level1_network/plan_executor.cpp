// SPDX-License-Identifier: Apache-2.0
#include "level1_network/plan_executor.hpp"

namespace d5 {

const Tensor& input_gradient_of(const Plan* plan, std::string_view name) {
  if (plan) {
    const auto place = plan->input_gradients.find(name);
    if (place != plan->input_gradients.end()) return *place->second.tensor;
  }
  throw NotFound(
      fmt::format("there is no gradient of input '{}': ask for it in "
                  "ExecutorOptions::input_gradients and run backpropagation",
                  printable(name)));
}

std::unique_ptr<GraphExecutor> make_executor(Network network, ExecutorOptions options) {
  return std::make_unique<PlanExecutor>(std::move(network), std::move(options));
}

PlannedMemory planned_memory(const GraphExecutor& executor) {
  const auto* planned = dynamic_cast<const PlanExecutor*>(&executor);
  return planned ? planned->memory() : PlannedMemory{};
}

PlannedMemory plan_memory(GraphExecutor& executor, const ValueMap& inputs, std::string_view loss) {
  auto* planned = dynamic_cast<PlanExecutor*>(&executor);
  if (!planned) {
    throw Unsupported(fmt::format("the executor of {} plans no memory; make_executor's does",
                                  executor.framework()));
  }
  return planned->plan_memory(inputs, loss);
}

}  // namespace d5
