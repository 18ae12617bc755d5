// SPDX-License-Identifier: Apache-2.0
#include "level2_training/optimization/step_graph/step_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <typeinfo>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/data/network_feed.hpp"
#include "d5/level2_training/optimization/slotted_optimizer.hpp"
#include "d5/level2_training/optimization/step_graph.hpp"
#include "d5/level2_training/optimization/step_modifier.hpp"
#include "d5/onnx/nodes.hpp"
#include "level1_network/nodes/random_nodes.hpp"
#include "level2_training/optimization/step_graph/update_operator.hpp"
#include "onnx/tensor_type.hpp"

namespace d5::detail {
namespace {

using Gradient = onnx::nodes::training::Gradient;

[[noreturn]] void refuse(const std::string& why, const std::string& way_out) {
  throw Unsupported(fmt::format("step graph: {}; {}", why, way_out));
}

/// Throws: Unsupported for parts of a step outside of network and rule.
void expect_rule_alone(ThreeStepOptimizer& optimizer) {
  for (const auto& modifier : optimizer.modifiers()) {
    if (modifier->name().starts_with("schedule.")) continue;  // it sets an input
    refuse(fmt::format("the step modifier {} has no node", modifier->name()),
           "make the optimizer without it, or train by the Trainer");
  }
  if (!dynamic_cast<LocalGradients*>(&optimizer.gradients())) {
    refuse("the gradients are sums of several runs or ranks",
           "make it of the optimizer of one rank, which does not accumulate");
  }
}

std::vector<RuleGroup> groups_of(Optimizer& optimizer) {
  auto* three_step = dynamic_cast<ThreeStepOptimizer*>(&optimizer);
  if (three_step) expect_rule_alone(*three_step);
  auto* slotted = dynamic_cast<SlottedOptimizer*>(&optimizer);
  auto groups = slotted ? slotted->rule_groups() : std::vector<RuleGroup>();
  if (groups.empty()) {
    refuse(
        "the optimizer is not a rule of one parameter, its gradient and its state, or it is a "
        "framework's own",
        "take one made of ElementOptimizer or TensorOptimizer, as sgd, adam and lamb are");
  }
  if (groups.front().parameters.empty()) {
    refuse("each parameter is in a group with options of its own",
           "give those of one group to all, in place of the group");
  }
  return groups;
}

/// The settings with which the optimizer was created.
Settings initial_settings(UpdateRule& rule, const HyperParameters& numbers, std::size_t group) {
  OptionList list;
  rule.declare(list);
  Settings settings;
  for (const Option& option : list.options()) settings.set(option.name, option.initial);
  for (const auto& number : list.numbers()) {
    settings.set(number.name, numbers.initial(number.name, group));
  }
  return settings;
}

/// The entry of `optimizers()` that creates such a rule from these settings.
std::string name_of_rule(const UpdateRule& rule, const Settings& settings) {
  for (const std::string& name : optimizers().names()) {
    const OptimizerEntry& entry = optimizers().at(name);
    const auto has = [&](const auto& setting) { return entry.has_option(setting.first); };
    if (!std::ranges::all_of(settings.values(), has)) continue;
    try {
      const auto made = make_update_rule(name, settings);
      if (made->has_formula_of(rule)) return name;
    } catch (const Error&) {
      continue;  // another one of the same options
    }
  }
  refuse("no entry of optimizers() makes the optimizer's rule",
         "add it there, under its name in the graph");
}

class StepBuilder {
 public:
  explicit StepBuilder(Optimizer& optimizer)
      : optimizer_(optimizer), network_(optimizer.executor().network()) {}

  Network run() {
    auto groups = groups_of(optimizer_);
    if (pulls_data(network_)) {
      refuse("the network pulls its own data", "make the fields inputs again");
    }
    for (const Parameter& parameter : network_.parameters()) {
      if (parameter.value.dtype() != DType::bfloat16) continue;
      refuse(fmt::format("parameter '{}' is bfloat16, and ONNX's Gradient takes no such tensors",
                         printable(parameter.name)),
             "keep parameters in float32 or float16 (a recipe's `precision` does)");
    }
    GraphInMode changed = graph_in_mode(network_, optimizer_.executor().mode());
    if (draws_random_numbers(changed.graph)) {
      refuse("a node draws random numbers, and a Gradient node would draw others than the loss",
             "take out Dropout and its like (`d5 net save --transform remove-dropout`)");
    }
    model_ = network_.model();
    model_.graph = std::move(changed.graph);
    updates_ = std::move(changed.updates);
    for (auto& [name, value] : model_.graph.initializers) value = value.copy(Device{});
    note_names();
    state_ = dynamic_cast<const ThreeStepOptimizer&>(optimizer_).rule_state();
    add_counter();
    add_gradient();
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (!groups[g].parameters.empty()) add_update(groups[g], g);
    }
    return network_of_constants(std::move(model_), updates_);
  }

 private:
  void note_names() {
    const onnx::Graph& graph = model_.graph;
    for (const auto& input : graph.inputs) names_.insert(input.name);
    for (const auto& [name, value] : graph.initializers) names_.insert(name);
    for (const auto& node : graph.nodes) {
      names_.insert(node.outputs.begin(), node.outputs.end());
    }
  }
  std::string fresh(const std::string& stem) {
    std::string name = stem;
    for (int number = 2; !names_.insert(name).second; ++number) {
      name = fmt::format("{}_{}", stem, number);
    }
    return name;
  }
  std::string add_constant(const std::string& stem, const Tensor& value) {
    std::string name = fresh(stem);
    model_.graph.initializers[name] = value.copy(Device{});
    return name;
  }
  /// Name of the tensor that overwrites `constant` after a run.
  std::string updated(const std::string& constant) {
    return updates_[constant] = fresh(constant + ".new");
  }
  onnx::Node& add_node(std::string name, std::string op_type, const std::string& domain,
                       int opset) {
    model_.opset_imports.emplace(domain, opset);
    onnx::Node& node = model_.graph.nodes.emplace_back();
    node.name = std::move(name);
    node.op_type = std::move(op_type);
    node.domain = domain;
    node.opset = model_.opset_imports[domain];
    return node;
  }

  void add_counter() {
    const std::string step = add_constant("optimizer/step", state_.at("step").tensor());
    const std::string one = add_constant("optimizer/one", Tensor::scalar(std::int64_t{1}));
    step_ = updated(step);
    onnx::Node& node = add_node("optimizer/count", "Add", "", 0);
    node.inputs = {step, one};
    node.outputs = {step_};
  }

  void add_gradient() {
    std::vector<std::string> xs, zs = network_.input_names();
    for (const Parameter& parameter : network_.parameters()) {
      xs.push_back(parameter.name);
      gradients_.push_back(fresh("gradient/" + parameter.name));
    }
    onnx::Node& node = add_node("gradient", std::string(Gradient::kName),
                                std::string(Gradient::kDomain), Gradient::kSinceVersions.front());
    node.inputs = xs;
    node.inputs.insert(node.inputs.end(), zs.begin(), zs.end());
    node.outputs = gradients_;
    node.attributes["xs"] = std::move(xs);
    if (!zs.empty()) node.attributes["zs"] = std::move(zs);
    node.attributes["y"] = optimizer_.loss();
  }

  void add_update(RuleGroup& group, std::size_t place) {
    const std::string prefix = place == 0 ? "optimizer/" : fmt::format("optimizer/{}/", place);
    const HyperParameters& numbers = optimizer_.hyper_parameters();
    UpdateWords words{.optimizer = {},
                      .settings = initial_settings(*group.rule, numbers, place),
                      .hyper_parameters = numbers.names()};
    words.optimizer = name_of_rule(*group.rule, words.settings);
    // The optimizer may have more slots, if options of another group require them.
    const auto rule = make_update_rule(words.optimizer, words.settings);
    std::vector<const Parameter*> parameters;
    for (const std::size_t i : group.parameters) {
      parameters.push_back(&network_.parameters()[i]);
      words.masters = words.masters || state_.contains("master/" + parameters.back()->name);
    }
    onnx::Node& node = add_node(prefix + words.optimizer, kUpdate, kUpdateDomain, 1);
    write_words(words, node);
    node.inputs = {step_};
    for (const std::string& name : words.hyper_parameters) {
      node.inputs.push_back(fresh(prefix + name));
      model_.graph.inputs.push_back({node.inputs.back(), tensor_type(DType::float64, {})});
    }
    const auto add = [&](const std::string& constant) {
      node.inputs.push_back(constant);
      node.outputs.push_back(updated(constant));
    };
    for (const std::string& name : rule->numbers()) {
      add(add_constant(prefix + name,
                       Tensor::scalar(state_.at(name).tensor().data<double>()[place])));
    }
    for (const Parameter* parameter : parameters) add(parameter->name);
    for (const std::size_t i : group.parameters) node.inputs.push_back(gradients_[i]);
    for (const std::string& slot : rule->slots()) {
      for (const Parameter* parameter : parameters) {
        const std::string key = slot + "/" + parameter->name;
        add(add_constant("optimizer/" + key, state_.at(key).tensor()));
      }
    }
    if (!words.masters) return;
    for (const Parameter* parameter : parameters) {
      const std::string key = "master/" + parameter->name;
      const DType dtype = parameter->value.dtype();
      if (dtype == DType::float16 || dtype == DType::bfloat16) {
        add(add_constant("optimizer/" + key, state_.at(key).tensor()));
      } else {
        node.inputs.emplace_back(), node.outputs.emplace_back();
      }
    }
  }

  Optimizer& optimizer_;
  Network& network_;
  onnx::Model model_;
  std::map<std::string, std::string> updates_;
  std::set<std::string> names_;
  ValueMap state_;
  std::string step_;  // the number of the step under way
  std::vector<std::string> gradients_;
};

}  // namespace

Network step_network(Optimizer& optimizer) { return StepBuilder(optimizer).run(); }

Network network_of_constants(onnx::Model model, const std::map<std::string, std::string>& updates) {
  add_update_operator();
  Network network(std::move(model));
  Splice constants;
  for (const auto& [name, value] : network.graph().initializers) {
    if (!network.is_parameter(name)) continue;
    constants.remove.push_back(name);
    constants.constants[name] = value;
  }
  if (!constants.remove.empty()) network.splice(std::move(constants));
  for (const auto& [constant, output] : updates) network.add_update(constant, output);
  return network;
}

}  // namespace d5::detail
