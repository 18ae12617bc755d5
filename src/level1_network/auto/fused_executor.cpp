// SPDX-License-Identifier: Apache-2.0
#include "level1_network/auto/fused_executor.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "d5/core/errors/error.hpp"
#include "level1_network/nodes/structure_digest.hpp"

namespace d5 {
namespace {

[[noreturn]] void throw_not_backward() {
  throw Unsupported("the fused network is for inference only: its parameters differ");
}

bool are_equal(const Tensor& a, const Tensor& b) {
  return a.raw() == b.raw() || std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

/// Copies the values of another network with the same structure.
void take_values(Network& network, const Network& other) {
  for (const auto& [name, value] : other.graph().initializers) {
    if (value.dtype() != DType::string && are_equal(network.fetch(name), value)) continue;
    network.feed(name, value);
  }
  network.values_changed();  // shared values
}

}  // namespace

FusedExecutor::FusedExecutor(Network network, ExecutorOptions options, SelectionOptions selection)
    : network_(std::move(network)),
      options_(std::move(options)),
      selection_(std::move(selection)),
      state_{{"runs", Tensor::scalar(std::int64_t{0})}} {}

const ValueMap& FusedExecutor::inference(const ValueMap& inputs) {
  PlanExecutor& plan = up_to_date();
  plan.events() = events_;
  return plan.inference(inputs);
}

const ValueMap& FusedExecutor::inference_and_backprop(const ValueMap&, std::string_view) {
  throw_not_backward();
}

void FusedExecutor::end_run() {
  if (plan_) plan_->end_run();
}

void FusedExecutor::plan(const ValueMap& inputs, std::string_view loss) {
  if (!loss.empty()) throw_not_backward();
  PlanExecutor& plan = up_to_date();
  plan.events() = events_;
  plan.plan(inputs, loss);
}

ValueMap FusedExecutor::state() const { return plan_ ? plan_->state() : state_; }

void FusedExecutor::restore(const ValueMap& state) {
  if (plan_) plan_->restore(state);
  state_ = state;
}

std::string FusedExecutor::framework() const {
  return fmt::format("{}", fmt::join(options_.frameworks, ","));
}

PlanExecutor& FusedExecutor::up_to_date() {
  const bool same_graph = plan_ && origin_.mode == mode_ && origin_.revision == network_.revision();
  if (same_graph && origin_.value_changes == network_.value_changes()) return *plan_;
  auto fused = fused_network(network_, mode_);
  if (!fused) throw Unsupported("there is nothing to fuse");
  // New values may forbid a fusion that the old ones allowed.
  if (same_graph &&
      structure_digest(fused->graph()) == structure_digest(plan_->network().graph())) {
    take_values(plan_->network(), *fused);
  } else {
    state_ = state();
    plan_ = std::make_unique<PlanExecutor>(std::move(*fused), options_, selection_);
    plan_->restore(state_);
  }
  origin_ = {mode_, network_.revision(), network_.value_changes()};
  return *plan_;
}

}  // namespace d5
