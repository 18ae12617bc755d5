// SPDX-License-Identifier: Apache-2.0
#include "compiled_network.hpp"

#include <ATen/core/grad_mode.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <set>

#include "d5/core/entries/registry.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level1_network/execution/feed.hpp"

namespace d5::torch {

CompiledNetwork::CompiledNetwork(Network& network, NetworkMode mode, const ExecutorOptions& options,
                                 const OperatorRegistry& operators,
                                 std::function<void(std::size_t)> ready)
    : options_(options),
      parameters_(network.parameters()),  // first: laying them out moves them
      gradients_(std::move(ready)) {
  const c10::InferenceMode normal(false);
  runnable_ = graph_in_mode(network, mode);
  for (const auto& name : network.input_names()) {
    input_places_[name] = std::size_t(place_of(name));
  }
  add_steps(operators);
  for (const auto& name : network.output_names()) {
    output_places_[name] = std::size_t(place_of(name));
  }
  find_last_uses(network);
  values_.assign(places_.size(), at::Tensor());
  for (const auto& [name, tensor] : runnable_.graph.initializers) {
    if (!network.is_parameter(name)) values_[std::size_t(place_of_known(name))] = wrap(tensor);
  }
  add_parameters();
  find_asked();
  forget_shapes(network);
}

int CompiledNetwork::place_of(const std::string& name) {
  if (name.empty()) return -1;
  return places_.try_emplace(name, int(places_.size())).first->second;
}

/// The index of a name; a name that no node reads gets a new one.
int CompiledNetwork::place_of_known(const std::string& name) {
  const int place = place_of(name);
  if (std::size_t(place) >= values_.size()) values_.resize(std::size_t(place) + 1);
  return place;
}

void CompiledNetwork::add_steps(const OperatorRegistry& operators) {
  for (const auto& node : runnable_.graph.nodes) {
    std::vector<int> inputs, outputs;
    for (const auto& name : node.inputs) inputs.push_back(place_of(name));
    for (const auto& name : node.outputs) outputs.push_back(place_of(name));
    steps_.push_back(
        {.info = {.node = node, .step = steps_.size(), .framework = "torch"},
         .planned = PlannedNode(node, std::move(inputs), std::move(outputs), operators)});
  }
}

void CompiledNetwork::add_parameters() {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    at::Tensor leaf = wrap(parameters_[i].value);
    const int place = place_of_known(parameters_[i].name);
    if (options_.parameter_gradients) {
      leaf.requires_grad_(true);
      gradients_.add(leaf, wrap(parameters_[i].gradient));
      for (Step& step : steps_) {
        const auto& inputs = step.planned.inputs();
        if (std::ranges::find(inputs, place) != inputs.end()) step.parameters.push_back(i);
      }
    }
    values_[std::size_t(place)] = std::move(leaf);
  }
}

void CompiledNetwork::find_asked() {
  for (const auto& name : options_.gradients) {
    const auto place = places_.find(name);
    if (place == places_.end()) continue;  // `run` refuses it, if it is to be recorded
    const auto writer = std::ranges::find_if(steps_, [&](const Step& step) {
      return std::ranges::find(step.planned.outputs(), place->second) !=
             step.planned.outputs().end();
    });
    const bool is_trained =
        options_.parameter_gradients &&
        std::ranges::find(parameters_, name, &Parameter::name) != parameters_.end();
    if (writer != steps_.end()) {
      writer->asked.push_back(name);
    } else if (!is_trained) {
      asked_before_.push_back(name);
    }
  }
}

/// Plans all nodes again. Constants are known if nothing replaces them and no gradient by them is
/// needed.
void CompiledNetwork::forget_shapes(const Network& network) {
  for (Step& step : steps_) step.planned.forget();
  known_.assign(values_.size(), {});
  for (const auto& [name, tensor] : runnable_.graph.initializers) {
    if (network.is_parameter(name) || input_places_.contains(name)) continue;
    if (std::ranges::find(asked_before_, name) != asked_before_.end()) continue;
    known_[std::size_t(places_.at(name))].value = tensor;
  }
  for (const auto& [constant, output] : runnable_.updates) {
    known_[std::size_t(places_.at(constant))].value = {};
  }
}

void CompiledNetwork::find_last_uses(const Network& network) {
  std::vector<bool> keep(places_.size(), false);
  for (const auto& name : network.input_names()) keep[std::size_t(place_of(name))] = true;
  for (const auto& name : network.output_names()) keep[std::size_t(place_of(name))] = true;
  for (const auto& [constant, output] : runnable_.updates) {
    keep[std::size_t(place_of(output))] = true;
  }
  for (const auto& [name, tensor] : runnable_.graph.initializers) {
    const auto place = places_.find(name);
    if (place != places_.end()) keep[std::size_t(place->second)] = true;
  }
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    for (const auto* list : {&step->planned.inputs(), &step->planned.outputs()}) {
      for (const int place : *list) {
        if (place < 0 || keep[std::size_t(place)]) continue;
        keep[std::size_t(place)] = true;
        step->finished.push_back(place);
      }
    }
  }
}

void CompiledNetwork::feed(const Network& network, const ValueMap& inputs) {
  const c10::InferenceMode normal(false);
  if (!fits(inputs)) {
    check_fed(network, inputs);
    Fed fed;
    for (const auto& [name, value] : inputs) fed.emplace_back(name, value.tensor().desc());
    fed_ = std::move(fed);
    for (const auto& [name, place] : input_places_) values_[place].reset();
    forget_shapes(network);
  }
  for (const auto& [name, value] : inputs) {
    at::Tensor& held = values_[input_places_.find(name)->second];
    if (!held.defined() || held.const_data_ptr() != value.tensor().raw()) {
      held = wrap(value.tensor());
    }
  }
}

void CompiledNetwork::hold(const std::string& input, at::Tensor tensor) {
  values_[input_places_.at(input)] = std::move(tensor);
}

const at::Tensor& CompiledNetwork::output(const std::string& name) const {
  return values_[output_places_.at(name)];
}

bool CompiledNetwork::shapes_are_known() const {
  return std::ranges::none_of(steps_, [](const Step& step) { return step.planned.changes(); });
}

/// Whether plans may treat these inputs as those of the previous run.
bool CompiledNetwork::fits(const ValueMap& inputs) const {
  return fed_ && std::ranges::equal(inputs, *fed_, [](const auto& input, const auto& known) {
           return input.first == known.first && input.second.is_tensor() &&
                  input.second.tensor().desc() == known.second;
         });
}

ValueMap CompiledNetwork::finish(Network& network, std::size_t steps) {
  const at::AutoGradMode off(false);
  std::set<std::size_t> missing;
  for (std::size_t i = steps; i < steps_.size(); ++i) {
    for (const int place : steps_[i].planned.outputs()) missing.insert(std::size_t(place));
  }
  if (is_whole(steps)) {
    for (const auto& [constant, output] : runnable_.updates) {
      wrap(network.fetch(constant)).copy_(values_[std::size_t(places_.find(output)->second)]);
    }
  }
  ValueMap outputs;
  for (const auto& [name, place] : output_places_) {
    if (!missing.contains(place)) outputs[name] = share(values_[place].detach());
  }
  return outputs;
}

}  // namespace d5::torch
