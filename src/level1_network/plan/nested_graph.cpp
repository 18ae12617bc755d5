// SPDX-License-Identifier: Apache-2.0
#include "level1_network/plan/nested_graph.hpp"

#include <fmt/format.h>

#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/visitor.hpp"
#include "level1_network/plan/compile.hpp"
#include "level1_network/plan/gradients/gradient_sum.hpp"

namespace d5 {
namespace {

bool carries_gradient(const Value& value) {
  return value.is_tensor() && is_floating_point(value.tensor().dtype());
}

bool fits(const ValueDesc& desc, const Value& value) {
  if (desc.is_tensor()) return value.is_tensor() && desc.tensor == value.tensor().desc();
  return desc.kind == value.kind();
}

/// Releases a value that was given to a plan; the next one needs no memory.
void let_go(Value& value) {
  static const Value nothing = Tensor();
  value = nothing;
}

}  // namespace

NestedGraph::NestedGraph(std::shared_ptr<const onnx::Graph> graph, std::string path, Mode mode,
                         RunState& state, const Gradients& gradients, const Lookup& outer)
    : graph_(std::move(graph)),
      path_(std::move(path)),
      what_(fmt::format("a result of graph '{}'", printable(path_))),
      mode_(mode),
      state_(state),
      gradients_(gradients),
      results_(graph_->outputs.size()),
      result_memory_(graph_->outputs.size()) {
  for (auto& name : onnx::captured_names(*graph_)) {
    const auto [value, is_constant] = outer(name);
    if (!value) {
      throw NotFound(fmt::format("graph '{}' reads '{}', which nothing around it writes",
                                 printable(graph_->name), printable(name)));
    }
    const bool stays = is_constant && !gradients_.contains(value);
    (stays ? constants_ : captured_).emplace_back(std::move(name), value);
  }
  state_.nested.insert(this);
}

NestedGraph::~NestedGraph() { state_.nested.erase(this); }

void NestedGraph::give_up_idle_plans() {
  plans_.drop_others(running_);
  for (auto& memory : result_memory_) memory.drop_free();
}

void NestedGraph::expect_inputs(Inputs inputs) const {
  if (inputs.size() == graph_->inputs.size()) return;
  throw ShapeError(fmt::format("graph '{}' has {} inputs, but {} were given", printable(path_),
                               graph_->inputs.size(), inputs.size()));
}

const Value& NestedGraph::bound(Inputs inputs, std::size_t place) const {
  return place < inputs.size() ? inputs[place] : *captured_[place - inputs.size()].second;
}

const std::string& NestedGraph::bound_name(std::size_t place) const {
  const std::size_t inputs = graph_->inputs.size();
  return place < inputs ? graph_->inputs[place].name : captured_[place - inputs].first;
}

NestedGraph::Seeds NestedGraph::wanted_gradients(Inputs inputs) const {
  Seeds result;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (grad_inputs_.contains(i) && carries_gradient(inputs[i])) result.insert(bound_name(i));
  }
  for (const auto& [name, value] : captured_) {
    if (gradients_.contains(value) && carries_gradient(*value)) result.insert(name);
  }
  return result;
}

std::unique_ptr<Plan> NestedGraph::make_plan(Inputs inputs, const Seeds& seeds) const {
  CompileRequest request{.graph = graph_, .path = path_, .mode = mode_, .seeds = seeds};
  std::map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < inputs.size() + captured_.size(); ++i) {
    if (!places.try_emplace(bound_name(i), i).second) continue;
    request.fed.emplace_back(bound_name(i), bound(inputs, i).desc());
  }
  for (const auto& [name, value] : constants_) request.constants.emplace_back(name, *value);
  if (!seeds.empty()) {
    request.parameters = &no_parameters_;
    request.gradients = wanted_gradients(inputs);
  }
  auto plan = compile(request, state_);
  for (const auto& fed : plan->inputs) plan->bound.push_back(places.at(fed.name));
  for (const auto& output : graph_->outputs) {
    plan->ordered_outputs.push_back(plan->output_sources.at(output.name));
  }
  if (!seeds.empty()) {  // this forward run is part of backward
    for (std::size_t i = 0; i < plan->forward.size(); ++i) {
      plan->infos[i].pass = Pass::backward;
      plan->infos[i].recomputed = true;
    }
  }
  plan->changing_outputs.clear();  // `outputs` is unused
  plan->outputs.clear();
  return plan;
}

Plan& NestedGraph::plan_for(Inputs inputs, const Seeds& seeds) {
  Plan* plan = plans_.find([&](const Plan& candidate) {
    for (std::size_t k = 0; k < candidate.inputs.size(); ++k) {
      if (!fits(candidate.inputs[k].desc, bound(inputs, candidate.bound[k]))) return false;
    }
    return candidate.given_seeds == seeds;
  });
  return plan ? *plan : plans_.add(make_plan(inputs, seeds));
}

void NestedGraph::run_forward(Plan& plan, Inputs inputs) {
  for (std::size_t k = 0; k < plan.inputs.size(); ++k) {
    *plan.inputs[k].value = bound(inputs, plan.bound[k]);
  }
  plan.run_nested(state_.observers);
  plan.finish();
}

namespace {

/// Marks the running plan until the end of a block.
class Running {
 public:
  Running(const Plan*& running, Plan& plan)
      : running_(running), plan_(plan), outer_(std::exchange(running, &plan)) {}
  ~Running() {
    for (auto& fed : plan_.inputs) let_go(*fed.value);
    running_ = outer_;
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  const Plan*& running_;
  Plan& plan_;
  const Plan* outer_;
};

}  // namespace

std::span<Value> NestedGraph::run(Inputs inputs) {
  expect_inputs(inputs);
  if (keeps_) kept_.push_back({{inputs.begin(), inputs.end()}, state_.nested_runs});
  ++state_.nested_runs;
  Plan& plan = plan_for(inputs, {});
  const Running running(running_, plan);
  run_forward(plan, inputs);
  for (std::size_t k = 0; k < results_.size(); ++k) {
    const Value& made = *plan.ordered_outputs[k];
    // Sequences and optionals hold tensors allocated by operators.
    if (!made.is_tensor()) {
      results_[k] = made;
    } else if (made.tensor().dtype() == DType::string) {
      results_[k] = state_.copy(made.tensor(), what_);
    } else {
      results_[k] = own(made.tensor(), result_memory_[k]);
    }
  }
  return results_;
}

/// Copies a value that shares memory with a plan.
const Value& NestedGraph::own(const Tensor& tensor, detail::RecycledTensors& memory) const {
  Value& result = memory.take(tensor.desc(),
                              [&](const TensorDesc& desc) { return state_.allocate(desc, what_); });
  result.tensor().copy_from(tensor);
  return result;
}

void NestedGraph::keep_runs(Places grad_inputs) {
  keeps_ = true;
  grad_inputs_ = grad_inputs;
  kept_.clear();
}

std::vector<Tensor> NestedGraph::run_backward(std::span<const Tensor> grad_outputs) {
  const KeptRun run = std::move(kept_.at(kept_.size() - 1));
  kept_.pop_back();
  const auto copied = [&](const Tensor& tensor) { return state_.copy(tensor, what_); };
  std::vector<Tensor> results(graph_->inputs.size());
  std::map<std::string, Tensor> arriving;  // an output may be listed twice
  Seeds seeds;
  for (std::size_t k = 0; k < grad_outputs.size(); ++k) {
    if (!grad_outputs[k].defined()) continue;
    const std::string& name = graph_->outputs[k].name;
    if (seeds.insert(name).second) {
      arriving[name] = copied(grad_outputs[k]);
    } else {
      add_on_host(arriving[name], grad_outputs[k]);
    }
  }
  if (seeds.empty()) return results;

  state_.nested_runs = run.number + 1;
  Plan& plan = plan_for(run.inputs, seeds);
  const Running running(running_, plan);
  run_forward(plan, run.inputs);
  for (auto& [name, gradient] : arriving) *plan.seeds.at(name) = std::move(gradient);
  plan.run_nested_backward(state_, state_.observers);

  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto place = plan.named_gradients.find(graph_->inputs[i].name);
    if (place == plan.named_gradients.end() || !place->second.reached) continue;
    results[i] = copied(*place->second.tensor);
  }
  for (const auto& [name, value] : captured_) {
    const auto place = plan.named_gradients.find(name);
    if (place == plan.named_gradients.end() || !place->second.reached) continue;
    add_on_host(*gradients_.at(value), *place->second.tensor);
  }
  return results;
}

}  // namespace d5
