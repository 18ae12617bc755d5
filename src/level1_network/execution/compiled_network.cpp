// SPDX-License-Identifier: Apache-2.0
#include "level1_network/execution/compiled_network.hpp"

#include <algorithm>

#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/trace/trace.hpp"
#include "d5/onnx/file.hpp"
#include "level1_network/graph/whole_model.hpp"

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
  for (const auto& [constant, place] : whole.updates) {
    updates_.emplace_back(network.fetch(constant), results_[place]);
  }
  if (!target_.loss.empty()) ask_for_gradients(network, options);
  for (const auto& name : target_.gradients) expect_tensor(whole.model.graph, name);
  model_ = compile(whole.model, target_);
  if (target_.profiled) Trace::at_stop([over = over_] { over->store(true); });
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
  for (const auto& [name, value] : inputs) *place++ = &value;
  for (Value* result : open_) *result = Value();
  model_->run(inputs_, results_);
  if (updates_.empty()) return;
  for (auto& [constant, value] : updates_) constant.copy_from(value->tensor());
  network.values_changed();
  values_ = network.value_changes();  // it reads the current values
}

const Tensor* CompiledNetwork::gradient(std::string_view name) const {
  const auto place = gradients_.find(name);
  return place == gradients_.end() ? nullptr : &place->second->tensor();
}

}  // namespace d5
