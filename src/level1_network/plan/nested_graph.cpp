// SPDX-License-Identifier: Apache-2.0
#include "level1_network/plan/nested_graph.hpp"

#include <fmt/format.h>

#include "d5/core/error.hpp"
#include "d5/onnx/visitor.hpp"
#include "level1_network/plan/compile.hpp"
#include "level1_network/plan/gradients/gradient_sum.hpp"

namespace d5 {
namespace {

Tensor own(const Tensor& tensor, const RunState& state) {
  Tensor result = state.allocate(tensor.desc());
  result.copy_from(tensor);
  return result;
}

/// A value that does not share memory with a plan. Sequences and optionals hold tensors of their
/// own already: operators allocate them.
Value own(const Value& value, const RunState& state) {
  return value.is_tensor() ? Value(own(value.tensor(), state)) : value;
}

bool carries_gradient(const Value& value) {
  return value.is_tensor() && is_floating_point(value.tensor().dtype());
}

bool fits(const ValueDesc& desc, const Value& value) {
  if (desc.is_tensor()) return value.is_tensor() && desc.tensor == value.tensor().desc();
  return desc.kind == value.kind();
}

}  // namespace

NestedGraph::NestedGraph(std::shared_ptr<const onnx::Graph> graph, Mode mode, RunState& state,
                         const Gradients& gradients, const Lookup& outer)
    : graph_(std::move(graph)), mode_(mode), state_(state), gradients_(gradients) {
  for (auto& name : onnx::captured_names(*graph_)) {
    const Value* value = outer(name);
    if (!value) {
      throw NotFound(fmt::format("graph '{}' reads '{}', which nothing around it writes",
                                 printable(graph_->name), printable(name)));
    }
    captured_.emplace_back(std::move(name), value);
  }
}

NestedGraph::Bound NestedGraph::bind(std::span<const Value> inputs) const {
  if (inputs.size() != graph_->inputs.size()) {
    throw ShapeError(fmt::format("graph '{}' has {} inputs, but {} were given",
                                 printable(graph_->name), graph_->inputs.size(), inputs.size()));
  }
  Bound bound;
  for (const auto& [name, value] : captured_) bound[name] = value;
  for (std::size_t i = 0; i < inputs.size(); ++i) bound[graph_->inputs[i].name] = &inputs[i];
  return bound;
}

std::set<std::string> NestedGraph::wanted_gradients(const Bound& bound) const {
  std::set<std::string> result;
  for (std::size_t i = 0; i < graph_->inputs.size(); ++i) {
    const std::string& name = graph_->inputs[i].name;
    if (grad_inputs_.contains(i) && carries_gradient(*bound.at(name))) result.insert(name);
  }
  for (const auto& [name, value] : captured_) {
    if (gradients_.contains(value) && carries_gradient(*value)) result.insert(name);
  }
  return result;
}

Plan& NestedGraph::run_forward(const Bound& bound, const std::set<std::string>& seeds) {
  ++state_.nested_runs;
  Plan* plan = plans_.find([&](const Plan& candidate) {
    for (const auto& fed : candidate.inputs) {
      if (!fits(fed.desc, *bound.at(fed.name))) return false;
    }
    return candidate.given_seeds == seeds;
  });
  if (!plan) {
    CompileRequest request{.graph = graph_, .mode = mode_, .seeds = seeds};
    for (const auto& [name, value] : bound) request.fed.emplace_back(name, value->desc());
    if (!seeds.empty()) {
      request.parameters = &no_parameters_;
      request.gradients = wanted_gradients(bound);
    }
    plan = &plans_.add(compile(request, state_));
  }
  for (auto& fed : plan->inputs) *fed.value = *bound.at(fed.name);
  plan->run_forward(0);  // its constants never change
  plan->finish();
  return *plan;
}

std::vector<Value> NestedGraph::run(std::span<const Value> inputs) {
  const Bound bound = bind(inputs);
  if (keeps_) kept_.push_back({{inputs.begin(), inputs.end()}, state_.nested_runs});
  const Plan& plan = run_forward(bound, {});
  std::vector<Value> results;
  for (const auto& output : graph_->outputs) {
    results.push_back(own(plan.outputs.at(output.name), state_));
  }
  return results;
}

void NestedGraph::keep_runs(Places grad_inputs) {
  keeps_ = true;
  grad_inputs_ = grad_inputs;
  kept_.clear();
}

std::vector<Tensor> NestedGraph::run_backward(std::span<const Tensor> grad_outputs) {
  const KeptRun run = std::move(kept_.at(kept_.size() - 1));
  kept_.pop_back();
  std::vector<Tensor> results(graph_->inputs.size());
  std::map<std::string, Tensor> arriving;  // an output may be listed twice
  std::set<std::string> seeds;
  for (std::size_t k = 0; k < grad_outputs.size(); ++k) {
    if (!grad_outputs[k].defined()) continue;
    const std::string& name = graph_->outputs[k].name;
    if (seeds.insert(name).second) {
      arriving[name] = own(grad_outputs[k], state_);
    } else {
      add_on_host(arriving[name], grad_outputs[k]);
    }
  }
  if (seeds.empty()) return results;

  state_.nested_runs = run.number;
  const Bound bound = bind(run.inputs);
  Plan& plan = run_forward(bound, seeds);
  for (auto& [name, gradient] : arriving) *plan.seeds.at(name) = std::move(gradient);
  plan.run_backward(state_);

  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto place = plan.named_gradients.find(graph_->inputs[i].name);
    if (place == plan.named_gradients.end() || !place->second.reached) continue;
    results[i] = own(*place->second.tensor, state_);
  }
  for (const auto& [name, value] : captured_) {
    const auto place = plan.named_gradients.find(name);
    if (place == plan.named_gradients.end() || !place->second.reached) continue;
    add_on_host(*gradients_.at(value), *place->second.tensor);
  }
  return results;
}

}  // namespace d5
