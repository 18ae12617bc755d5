// SPDX-License-Identifier: Apache-2.0
#include "level1_network/nested_graph.hpp"

#include <fmt/format.h>

#include "d5/core/error.hpp"
#include "d5/onnx/visitor.hpp"
#include "level1_network/compile.hpp"

namespace d5 {
namespace {

/// A value that does not share memory with a plan. Sequences and optionals hold tensors of their
/// own already: operators allocate them.
Value own(const Value& value) { return value.is_tensor() ? Value(value.tensor().copy()) : value; }

bool fits(const ValueDesc& desc, const Value& value) {
  if (desc.is_tensor()) return value.is_tensor() && desc.tensor == value.tensor().desc();
  return desc.kind == value.kind();
}

}  // namespace

NestedGraph::NestedGraph(std::shared_ptr<const onnx::Graph> graph, RunState& state,
                         const Lookup& outer)
    : graph_(std::move(graph)), state_(state) {
  for (auto& name : onnx::captured_names(*graph_)) {
    const Value* value = outer(name);
    if (!value) {
      throw NotFound(fmt::format("graph '{}' reads '{}', which nothing around it writes",
                                 printable(graph_->name), printable(name)));
    }
    captured_.emplace_back(std::move(name), value);
  }
}

std::vector<Value> NestedGraph::run(std::span<const Value> inputs) {
  if (inputs.size() != graph_->inputs.size()) {
    throw ShapeError(fmt::format("graph '{}' has {} inputs, but {} were given",
                                 printable(graph_->name), graph_->inputs.size(), inputs.size()));
  }
  ++state_.nested_runs;
  std::map<std::string, const Value*, std::less<>> bound;
  for (const auto& [name, value] : captured_) bound[name] = value;
  for (std::size_t i = 0; i < inputs.size(); ++i) bound[graph_->inputs[i].name] = &inputs[i];

  Plan* plan = plans_.find([&](const Plan& candidate) {
    for (const auto& fed : candidate.inputs) {
      if (!fits(fed.desc, *bound.at(fed.name))) return false;
    }
    return true;
  });
  if (!plan) {
    CompileRequest request{.graph = graph_, .fed = {}};
    for (const auto& [name, value] : bound) request.fed.emplace_back(name, value->desc());
    plan = &plans_.add(compile(request, state_));
  }
  for (auto& fed : plan->inputs) *fed.value = *bound.at(fed.name);
  plan->run_forward();
  plan->finish();
  std::vector<Value> results;
  for (const auto& output : graph_->outputs) results.push_back(own(plan->outputs.at(output.name)));
  return results;
}

}  // namespace d5
