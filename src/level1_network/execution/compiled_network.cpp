// SPDX-License-Identifier: Apache-2.0
#include "level1_network/execution/compiled_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <list>

#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/trace/trace.hpp"
#include "d5/onnx/file.hpp"
#include "level1_network/graph/whole_model.hpp"
#include "level1_network/nodes/cache_writers.hpp"
#include "level1_network/nodes/node_names.hpp"
#include "level1_network/plan/memory_overlap.hpp"

namespace d5 {
namespace {

/// Throws: NotFound, with the nearest.
void expect_tensor(const onnx::Graph& graph, const std::string& name) {
  std::vector<std::string> known;
  for (const auto& input : graph.inputs) known.push_back(input.name);
  for (const auto& [constant, value] : graph.initializers) known.push_back(constant);
  for (const auto& node : graph.nodes) std::ranges::copy(node.outputs, std::back_inserter(known));
  if (std::ranges::find(known, name) == known.end()) throw_unknown_name("tensor", name, known);
}

bool is_writer_of(const onnx::Node& node, const std::string& constant, const std::string& output) {
  const auto place = std::ranges::find(node.outputs, output);
  if (place == node.outputs.end() || std::ranges::count(node.inputs, constant) != 1) return false;
  const auto cache = cache_of(node, std::size_t(place - node.outputs.begin()));
  return cache && node.has_input(*cache) && node.inputs[*cache] == constant;
}

/// Why the whole model cannot update the constant in place; empty: it can.
std::string obstacle(const Network& network, const WholeModel& whole, const std::string& constant,
                     std::size_t place) {
  const std::string& output = whole.model.graph.outputs[place].name;
  bool is_written = false;
  for (const onnx::Node& node : whole.model.graph.nodes) {
    if (is_writer_of(node, constant, output)) {
      is_written = true;
    } else if (const auto read = read_names(node); std::ranges::count(read, constant) > 0) {
      return fmt::format("{} reads '{}', too", onnx::describe(node), printable(constant));
    }
  }
  if (!is_written) {
    return fmt::format("'{}' is not the output of its TensorScatter or GroupQueryAttention",
                       printable(output));
  }
  const bool is_answer = std::ranges::count(whole.outputs, constant) > 0;
  if (place < whole.outputs.size() || is_answer) return "it is an output of the network";
  const auto takes_over = [&](const auto& update) {
    return update.first != constant &&
           (update.second == place || whole.model.graph.outputs[update.second].name == constant);
  };
  if (std::ranges::any_of(whole.updates, takes_over)) return "another constant takes it over";
  for (const auto& [name, tensor] : network.graph().initializers) {
    if (name != constant && overlap(tensor, network.fetch(constant))) {
      return fmt::format("its memory is that of '{}', too", printable(name));
    }
  }
  return {};
}

}  // namespace

CompiledNetwork::CompiledNetwork(Network& network, const Purpose& purpose, const ValueMap& inputs,
                                 const ExecutorOptions& options, const ModelCompiler& compile)
    : mode_(purpose.mode),
      target_{.threads = purpose.threads,
              .profiled = purpose.profiled,
              .loss = std::string(purpose.loss),
              .gradients = {},
              .declared = {}},
      values_(purpose.value_changes) {
  for (const auto& [name, value] : inputs) fed_.emplace_back(name, value.desc());
  std::vector<std::string> trained;
  if (!target_.loss.empty()) {
    for (const Parameter& parameter : network.parameters()) trained.push_back(parameter.name);
  }
  const WholeModel whole = whole_model(network, mode_, fed_, trained);
  for (const auto& input : whole.model.graph.inputs) {
    const auto declared =
        std::ranges::find(network.graph().inputs, input.name, &onnx::ValueInfo::name);
    target_.declared.push_back(declared == network.graph().inputs.end() ? input : *declared);
  }
  inputs_.resize(fed_.size());
  for (const auto& name : whole.variables) {
    inputs_.push_back(&variables_.emplace_back(network.fetch(name)));
  }

  const auto types = onnx::types_of(whole.model);
  const auto& outputs = whole.model.graph.outputs;
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const auto type = types.find(outputs[k].name);
    const ValueDesc known = type == types.end() ? ValueDesc() : static_desc(type->second);
    if (outputs[k].name == target_.loss && known.is_tensor() && known.tensor.elements() != 1) {
      throw ShapeError("loss '" + printable(target_.loss) + "' is not a scalar, but " +
                       to_string(known));
    }
    add_result(k < whole.outputs.size() ? outputs_[outputs[k].name] : others_.emplace_back(),
               known);
  }
  if (!target_.loss.empty()) ask_for_gradients(network, options);
  for (const auto& name : target_.gradients) expect_tensor(whole.model.graph, name);
  model_ = compile(whole.model, target_);
  place_updates(network, whole);
  if (target_.profiled) Trace::at_stop([over = over_] { over->store(true); });
}

void CompiledNetwork::place_updates(const Network& network, const WholeModel& whole) {
  for (const auto& [constant, place] : whole.updates) {
    const Tensor& memory = network.fetch(constant);
    Value& result = *results_[place];
    std::string reason = "its framework copies updates";
    if (!target_.loss.empty()) {
      reason = "backward reads values of the constant before the run";
    } else if (model_->scatters_in_place()) {
      reason = obstacle(network, whole, constant, place);
    }
    // A framework refuses memory of another shape, where only running tells it.
    if (reason.empty() && result.is_tensor() && result.tensor().desc() != memory.desc()) {
      reason = "its new value has another type or shape";
    }
    const bool is_in_place = reason.empty();
    planned_.push_back({.constant = constant,
                        .output = whole.model.graph.outputs[place].name,
                        .copied_bytes = is_in_place ? 0 : memory.bytes(),
                        .reason = std::move(reason)});
    if (is_in_place) {
      result = memory;
      std::erase(open_, &result);
      in_place_.push_back(memory);
    } else {
      updates_.emplace_back(memory, &result);
    }
  }
}

void CompiledNetwork::add_result(Value& result, const ValueDesc& known) {
  results_.push_back(&result);
  if (known.is_tensor()) {
    result = Tensor::empty(known.tensor);
  } else {
    open_.push_back(&result);
  }
}

void CompiledNetwork::ask_for_gradients(Network& network, const ExecutorOptions& options) {
  const auto ask = [&](const std::string& name) -> Value& {
    target_.gradients.push_back(name);
    return *(gradients_[name] = &others_.emplace_back());
  };
  if (options.parameter_gradients) {
    for (const Parameter& parameter : network.parameters()) {
      Value& gradient = ask(parameter.name) = parameter.gradient;
      results_.push_back(&gradient);
    }
  }
  for (const auto& name : options.gradients) {
    if (!gradients_.contains(name)) add_result(ask(name), {});
  }
}

bool CompiledNetwork::serves(const Purpose& purpose, const ValueMap& inputs) const {
  return mode_ == purpose.mode && target_.loss == purpose.loss &&
         target_.threads == purpose.threads && target_.profiled == purpose.profiled &&
         std::ranges::equal(inputs, fed_, [](const auto& input, const auto& known) {
           const Value& value = input.second;
           return input.first == known.first && value.kind() == known.second.kind &&
                  (!value.is_tensor() || value.tensor().desc() == known.second.tensor);
         });
}

void CompiledNetwork::run(const ValueMap& inputs, Network& network) {
  auto place = inputs_.begin();
  std::list<Value> apart;  // copies of inputs that the run would change
  for (const auto& input : inputs) {
    const Value& value = input.second;
    const bool changes = value.is_tensor() && std::ranges::any_of(in_place_, [&](const Tensor& t) {
                           return overlap(t, value.tensor());
                         });
    *place++ = changes ? &apart.emplace_back(value.tensor().copy()) : &value;
  }
  for (Value* result : open_) *result = Value();
  model_->run(inputs_, results_);
  if (planned_.empty()) return;
  for (auto& [constant, value] : updates_) constant.copy_from(value->tensor());
  network.values_changed();
  values_ = network.value_changes();  // it reads the current values
}

void CompiledNetwork::follow(const CompiledNetwork& other, std::uint64_t before) {
  if (mode_ == other.mode_ && values_ == before) values_ = other.values_;
}

const Tensor* CompiledNetwork::gradient(std::string_view name) const {
  const auto place = gradients_.find(name);
  return place == gradients_.end() ? nullptr : &place->second->tensor();
}

}  // namespace d5
