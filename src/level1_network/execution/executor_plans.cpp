// SPDX-License-Identifier: Apache-2.0
// Choice and creation of an executor's plans.
#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/execution/feed.hpp"
#include "d5/level1_network/mixture/framework_selection.hpp"
#include "d5/level1_network/plan/planned_memory.hpp"
#include "d5/level1_network/plan/planned_steps.hpp"
#include "level1_network/execution/plan_executor.hpp"

namespace d5 {
namespace {

bool fits(const Plan& plan, const ValueMap& inputs) {
  if (plan.inputs.size() != inputs.size()) return false;
  auto fed = inputs.begin();
  for (const auto& input : plan.inputs) {
    const Value& value = fed->second;
    if (fed->first != input.name || value.kind() != input.desc.kind) return false;
    if (value.is_tensor() && value.tensor().desc() != input.desc.tensor) return false;
    ++fed;
  }
  return true;
}

std::vector<std::string> tensor_names(const onnx::Graph& graph) {
  std::vector<std::string> names;
  for (const auto& input : graph.inputs) names.push_back(input.name);
  for (const auto& [name, value] : graph.initializers) names.push_back(name);
  for (const auto& node : graph.nodes) std::ranges::copy(node.outputs, std::back_inserter(names));
  return names;
}

/// Throws: NotFound, with the nearest of `known`.
void expect_name(std::string_view kind, std::string_view name,
                 const std::vector<std::string>& known) {
  if (!name.empty() && std::ranges::find(known, name) != known.end()) return;
  throw_unknown_name(kind, name, known);
}

}  // namespace

void PlanExecutor::plan(const ValueMap& inputs, std::string_view loss) {
  expect_no_run(within_run_);
  if (!loss.empty()) (void)network_.parameters();  // laying them out counts as an edit
  current_ = &plan_for(inputs, loss);
}

Plan& PlanExecutor::plan_for(const ValueMap& inputs, std::string_view loss) {
  const Runnable& runnable = up_to_date();
  const Start start{.loss = loss};
  Plan* plan =
      plans_.find([&](const Plan& other) { return serves(other, runnable, inputs, start); });
  return plan ? *plan : plans_.add(make_plan(runnable, inputs, start));
}

bool PlanExecutor::serves(const Plan& plan, const Runnable& runnable, const ValueMap& inputs,
                          const Start& start) {
  return plan.loss == start.loss && plan.given_seeds == start.seeds &&
         plan.network_mode == runnable.mode && fits(plan, inputs);
}

const PlanExecutor::Runnable& PlanExecutor::up_to_date() {
  current_ = nullptr;
  refresh();
  return runnable_in(mode_);
}

void PlanExecutor::refresh() {
  if (revision_ == network_.revision()) return;
  plans_.clear();
  last_ = nullptr;
  runnables_.clear();
  expect_matches(options_.placement, network_);
  revision_ = network_.revision();
}

const PlanExecutor::Runnable& PlanExecutor::runnable_in(NetworkMode mode) {
  if (const auto known = runnables_.find(mode); known != runnables_.end()) return known->second;
  GraphInMode changed = graph_in_mode(network_, mode);
  const auto in_force = changed.differs ? mode : NetworkMode::as_written;
  return runnables_[mode] = {std::make_shared<onnx::Graph>(std::move(changed.graph)),
                             std::move(changed.updates), in_force};
}

CompileRequest PlanExecutor::request_for(const Runnable& runnable, const ValueMap& inputs,
                                         const Start& start) {
  check_fed(network_, inputs);
  CompileRequest request{.graph = runnable.graph, .updates = runnable.updates};
  request.device = options_.device;
  request.outputs = options_.outputs;
  // A plan chosen by measurement runs in trials, which leave constants as they are.
  request.updates_in_place = update_place_ == UpdatePlace::constant && !has_candidates(state_);
  for (const auto& [name, value] : inputs) request.fed.emplace_back(name, value.desc());
  for (const auto& [name, tensor] : runnable.graph->initializers) {
    if (network_.is_parameter(name)) request.variables.insert(name);
  }
  // A tensor that runs in another mode overwrite is not constant in this one.
  const auto& updates = switches_ ? runnable_in(NetworkMode::training).updates : runnable.updates;
  for (const auto& [constant, output] : updates) request.variables.insert(constant);
  const bool trains = runnable.mode == NetworkMode::training ||
                      (runnable.mode == NetworkMode::as_written && start.goes_back());
  request.mode = trains ? Mode::training : Mode::inference;
  if (start.goes_back()) ask_for_gradients(request, start);
  state_.planned = 0;
  return request;
}

std::unique_ptr<Plan> PlanExecutor::make_plan(const Runnable& runnable, const ValueMap& inputs,
                                              const Start& start) {
  last_ = nullptr;  // the cache may drop its plan
  const CompileRequest request = request_for(runnable, inputs, start);
  auto plan = has_candidates(state_)
                  ? measured_plan(request, state_, inputs, network_, events_, selection_)
                  : compile(request, state_);
  plan->network_mode = runnable.mode;
  return plan;
}

PlannedMemory PlanExecutor::plan_memory(const ValueMap& inputs, std::string_view loss) {
  const CompileRequest request = request_for(up_to_date(), inputs, {.loss = loss});
  return has_candidates(state_) ? plan_memory_as_kept(request, state_, network_)
                                : d5::plan_memory(request, state_);
}

void PlanExecutor::ask_for_gradients(CompileRequest& request, const Start& start) {
  const auto outputs = network_.output_names();
  if (!start.loss.empty()) expect_name("output", start.loss, outputs);
  for (const auto& name : start.seeds) expect_name("output", name, outputs);
  const auto tensors = tensor_names(network_.graph());
  for (const auto& name : options_.gradients) expect_name("tensor", name, tensors);
  request.loss = start.loss;
  request.seeds = start.seeds;
  request.parameters = options_.parameter_gradients ? &network_.parameters() : &no_parameters_;
  request.gradients = {options_.gradients.begin(), options_.gradients.end()};
  request.recompute = options_.recompute;
  // A tensor with a gradient is not constant.
  request.variables.insert(options_.gradients.begin(), options_.gradients.end());
}

}  // namespace d5
