// SPDX-License-Identifier: Apache-2.0
// Queries about the executor behind a network: which one runs it, and what it plans.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/mixture/framework_selection.hpp"
#include "d5/level1_network/plan/planned_memory.hpp"
#include "d5/level1_network/plan/planned_steps.hpp"
#include "d5/level1_network/plan/planned_updates.hpp"
#include "level1_network/auto/auto_executor.hpp"
#include "level1_network/execution/compiled_network.hpp"

namespace d5 {
namespace {

/// Null before the first plan, and for an executor of another kind.
const Plan* current_plan(const GraphExecutor& executor) {
  const auto* planned = dynamic_cast<const PlanExecutor*>(&executor_behind(executor));
  return planned ? planned->current_plan() : nullptr;
}

}  // namespace

std::unique_ptr<GraphExecutor> make_executor(Network network, ExecutorOptions options) {
  if (AutoExecutor::has_rivals(options)) {
    return std::make_unique<AutoExecutor>(std::move(network), std::move(options));
  }
  return std::make_unique<PlanExecutor>(std::move(network), std::move(options));
}

std::unique_ptr<GraphExecutor> make_executor(Network network, ExecutorOptions options,
                                             UpdatePlace updates) {
  if (AutoExecutor::has_rivals(options)) {
    throw Unsupported(
        "make_executor: plans of framework 'auto' copy updates; name frameworks to choose their "
        "place");
  }
  auto executor = std::make_unique<PlanExecutor>(std::move(network), std::move(options));
  executor->set_update_place(updates);
  return executor;
}

PlannedMemory planned_memory(const GraphExecutor& executor) {
  const Plan* plan = current_plan(executor);
  return plan ? plan->memory : PlannedMemory{};
}

PlannedMemory plan_memory(GraphExecutor& executor, const ValueMap& inputs, std::string_view loss) {
  auto* standing = dynamic_cast<AutoExecutor*>(&executor);
  auto* planned = standing ? &standing->planned() : dynamic_cast<PlanExecutor*>(&executor);
  if (!planned) {
    throw Unsupported(fmt::format("the executor of {} plans no memory; make_executor's does",
                                  executor.framework()));
  }
  return planned->plan_memory(inputs, loss);
}

FrameworkSelection framework_selection(const GraphExecutor& executor) {
  const auto* standing = dynamic_cast<const AutoExecutor*>(&executor);
  if (standing && standing->selection()) return *standing->selection();
  const Plan* plan = current_plan(executor);
  return plan && plan->selection ? *plan->selection : FrameworkSelection{};
}

std::vector<PlannedUpdate> planned_updates(const GraphExecutor& executor) {
  if (const Plan* plan = current_plan(executor)) return plan->planned_updates;
  const auto* updates = updates_of_model(executor_behind(executor));
  return updates ? *updates : std::vector<PlannedUpdate>{};
}

std::vector<StepInfo> planned_steps(const GraphExecutor& executor) {
  const Plan* plan = current_plan(executor);
  if (!plan) return {};
  std::vector<StepInfo> steps = plan->infos;
  std::ranges::copy(plan->kept_infos, std::back_inserter(steps));
  return steps;
}

}  // namespace d5
