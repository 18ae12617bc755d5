// SPDX-License-Identifier: Apache-2.0
#include "level1_network/mixture/plan_trial.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <span>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/onnx/visitor.hpp"
#include "level1_network/nodes/node_names.hpp"
#include "level1_network/plan/transfer_kernel.hpp"

namespace d5 {
namespace {

bool is_transfer(const onnx::Node& node) { return node.domain == kTransferDomain; }

std::span<const std::byte> bytes_of(const Tensor& tensor) {
  return {static_cast<const std::byte*>(tensor.raw()), tensor.bytes()};
}

bool overlap(std::span<const std::byte> a, std::span<const std::byte> b) {
  const std::less<> before;
  return before(a.data(), b.data() + b.size()) && before(b.data(), a.data() + a.size());
}

/// A stand-in for a gradient of the caller.
Tensor some_gradient(const TensorDesc& desc, const std::string& name) {
  Tensor result = Tensor::zeros(desc.dtype, desc.shape);
  RandomStream random(0, stream_of(name));
  dispatch(FloatTypes{}, desc.dtype, "gradient of an output", [&]<class T>() {
    for (T& value : result.span<T>()) value = T(random.normal());
  });
  return result;
}

}  // namespace

namespace {

/// Includes nested graphs: a branch of an If may be planned in its place.
void add_needed(const onnx::Graph& graph, std::set<std::string, std::less<>>& needed) {
  for (const auto& node : graph.nodes) {
    for (auto& name : read_names(node)) needed.insert(std::move(name));
    for (const auto& [attribute, held] : onnx::subgraphs(node)) add_needed(*held, needed);
  }
  for (const auto& output : graph.outputs) needed.insert(output.name);
}

}  // namespace

std::set<std::string, std::less<>> needed_tensors(const CompileRequest& request) {
  std::set<std::string, std::less<>> result;
  add_needed(*request.graph, result);
  for (const auto& [constant, output] : request.updates) result.insert(output);
  return result;
}

CompileRequest assigned(CompileRequest request, RunState& state,
                        const std::vector<const OperatorRegistry*>& candidates,
                        const KernelAssignment& assignment) {
  std::vector<const OperatorRegistry*> order = candidates;
  std::ranges::stable_partition(
      order, [&](const auto* one) { return one->framework() == assignment.first; });
  const auto prefer = [&](FrameworkChoice& choice) {
    if (!choice.candidates.empty()) choice.candidates = order;
  };
  prefer(state.frameworks);
  for (auto& placed : state.placed) prefer(placed.frameworks);
  request.kernels = assignment.kernels;
  return request;
}

PlanTrial::PlanTrial(const TrialBench& bench, KernelAssignment assignment)
    : bench_(bench),
      assignment_(std::move(assignment)),
      plan_(compile(assigned(bench.request, bench.state, bench.candidates, assignment_),
                    bench.state)) {
  for (std::size_t i = 0; i < plan_->forward.size(); ++i) {
    const StepInfo& info = plan_->infos[i];
    node_of_[&info.node] = infos_.size();
    if (!is_transfer(info.node)) infos_.push_back(&info);
  }
  for (auto& [node, place] : node_of_) {
    place = std::min(place, std::max<std::size_t>(infos_.size(), 1) - 1);
  }
  outputs_.resize(infos_.size());
  gradients_.resize(infos_.size());
}

void PlanTrial::before_node(const StepInfo& step) {
  if (step.prepares) return;
  current_ = node_of_.at(&step.node);
  if (looks_ && !is_transfer(step.node)) keep_what_is_read(step);
  begin_ = bench_.clock();
}

void PlanTrial::after_node(const StepInfo& step) {
  if (step.prepares) return;
  if (step.device != Device{}) step.stream.synchronise();
  const double now = bench_.clock();
  if (!infos_.empty()) {
    sums_[current_] += now - begin_;
    reached_[current_] = true;
  }
  ended_ = now > deadline_;
  if (looks_ && !is_transfer(step.node)) {
    const auto changed = read_->put_back();
    read_.reset();  // others may write there from now on
    if (changed) {
      throw ContractError(fmt::format("{}: it changes {}, which it may only read",
                                      onnx::describe(step.node), *changed));
    }
    look_at(step, current_);
  }
  if (step.pass == Pass::backward && !step.recomputed) ++gradients_seen_;
}

void PlanTrial::keep_what_is_read(const StepInfo& step) {
  read_.emplace();
  std::vector<std::span<const std::byte>> written;
  const auto writes = [&](const Tensor& tensor) {
    if (tensor.defined()) written.push_back(bytes_of(tensor));
  };
  const auto reads = [&](const char* what, std::size_t place, const Tensor& tensor) {
    if (!tensor.defined()) return;
    const bool in_place = std::ranges::any_of(
        written, [&](const auto& other) { return overlap(other, bytes_of(tensor)); });
    if (!in_place) read_->keep(fmt::format("{} {}", what, place), tensor);
  };
  const auto all_read = [&](const char* what, std::span<const Value* const> values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] && values[i]->is_tensor()) reads(what, i, values[i]->tensor());
    }
  };
  if (step.pass == Pass::forward) {
    const OpContext& context = plan_->forward[step.step].context;
    for (const Value* output : context.outputs) {
      if (output && output->is_tensor()) writes(output->tensor());
    }
    return all_read("input", context.inputs);
  }
  if (step.recomputed) return;
  const GradContext& context = plan_->backward[gradients_seen_].context;
  for (const Tensor* gradient : context.grad_inputs) {
    if (gradient) writes(*gradient);
  }
  all_read("input", context.inputs);
  all_read("output", context.outputs);
  for (std::size_t i = 0; i < context.grad_outputs.size(); ++i) {
    if (context.grad_outputs[i]) reads("gradient", i, *context.grad_outputs[i]);
  }
}

void PlanTrial::look_at(const StepInfo& step, std::size_t node) {
  if (step.recomputed) return;
  if (step.pass == Pass::forward) {
    const auto& outputs = plan_->forward[step.step].context.outputs;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      // An unread output, such as Dropout's mask in inference, may be left unwritten.
      const bool needed =
          i < step.node.outputs.size() && bench_.needed.contains(step.node.outputs[i]);
      outputs_[node].push_back(needed ? sketch(outputs[i]) : std::nullopt);
    }
  } else {
    for (const Tensor* gradient : plan_->backward[gradients_seen_].context.grad_inputs) {
      gradients_[node].push_back(gradient ? sketch(*gradient) : std::nullopt);
    }
  }
}

void PlanTrial::bind() {
  auto fed = bench_.inputs.begin();
  for (auto& input : plan_->inputs) *input.value = (fed++)->second;
  for (auto& [name, seed] : plan_->seeds) {
    if (!seed->defined()) *seed = some_gradient(plan_->outputs.at(name).tensor().desc(), name);
  }
  bench_.state.nested_runs = 0;
  const auto host = plan_->arenas.find(Device{});
  bench_.state.planned = host == plan_->arenas.end() ? 0 : host->second.bytes();
}

void PlanTrial::run(double most_seconds) {
  bind();
  sums_.assign(infos_.size(), 0);
  reached_.assign(infos_.size(), false);
  gradients_seen_ = 0;
  ended_ = false;
  std::vector<ExecutionEvent*> observers = bench_.observers;
  observers.push_back(this);
  const double begin = bench_.clock();
  deadline_ = begin + most_seconds;
  const Plan::Observers all{observers, ended_};
  plan_->run_forward(bench_.value_changes, all);
  if (bench_.goes_back() && !ended_) {
    plan_->run_backward(bench_.state, *bench_.request.parameters, all);
  }
  plan_->host_reads.wait();
  total_ = bench_.clock() - begin;
}

bool PlanTrial::warm_up(double most_seconds) {
  for (std::size_t i = 0; i < infos_.size(); ++i) outputs_[i].clear(), gradients_[i].clear();
  looks_ = true;
  try {
    run(most_seconds);
  } catch (...) {  // failed before the kernel changed it
    looks_ = false;
    read_.reset();
    throw;
  }
  looks_ = false;
  read_.reset();
  return !ended_;
}

void PlanTrial::settle() {
  bench_.clock.settle(shortest_, [&] {
    run(std::numeric_limits<double>::infinity());
    shortest_ = std::min(shortest_, total_);
    return total_;
  });
}

bool PlanTrial::time_nodes(double most_seconds) {
  run(most_seconds);
  return !ended_;
}

double PlanTrial::time_whole() {
  if (!plan_->infos.empty()) {  // runs timed as a whole have no observers
    for (ExecutionEvent* observer : bench_.observers) observer->before_node(plan_->infos.front());
  }
  bind();
  const double begin = bench_.clock();
  plan_->run_forward(bench_.value_changes);
  if (bench_.goes_back()) plan_->run_backward(bench_.state);
  plan_->host_reads.wait();
  for (auto& [device, stream] : bench_.state.streams) stream->synchronise();
  return bench_.clock() - begin;
}

std::optional<double> PlanTrial::seconds(std::size_t node) const {
  return reached_[node] ? std::optional(sums_[node]) : std::nullopt;
}

std::size_t PlanTrial::bytes() const {
  std::size_t sum = 0;
  for (const auto& [device, arena] : plan_->arenas) sum += arena.bytes();
  return sum;
}

std::size_t PlanTrial::reorders() const {
  return std::size_t(std::count_if(plan_->infos.begin(),
                                   plan_->infos.begin() + std::ptrdiff_t(plan_->forward.size()),
                                   [](const StepInfo& info) { return is_transfer(info.node); }));
}

}  // namespace d5
