// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/optimization/step_graph.hpp"

#include <algorithm>
#include <optional>
#include <ranges>
#include <set>
#include <string>
#include <vector>

#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/level1_network/graph/executor_word.hpp"
#include "d5/level1_network/graph/network.hpp"
#include "d5/level2_training/optimization/update_rule.hpp"
#include "d5/onnx/nodes.hpp"
#include "level1_network/nodes/differentiated_graph.hpp"
#include "level1_network/nodes/node_names.hpp"
#include "level2_training/optimization/step_graph/step_file.hpp"
#include "level2_training/optimization/step_graph/step_model.hpp"
#include "level2_training/optimization/step_graph/update_operator.hpp"

namespace d5::detail {
namespace {

/// A step in two networks that share its values. The first computes the outputs, and an executor
/// runs its backward pass as the optimizer does. The second is the rest, with the gradients as
/// inputs. A single graph would run the forward pass again, within the Gradient node.
struct StepParts {
  Network forward, update;
  std::string loss;
  std::vector<std::string> variables, gradients;  ///< the loss by a variable is a gradient
  std::vector<std::string> handed;  ///< outputs of `forward` that `update` has as inputs
};

using Names = std::set<std::string, std::less<>>;
using Updates = std::map<std::string, std::string>;

class StepSplitter {
 public:
  explicit StepSplitter(const Network& step) : step_(step), graph_(step.graph()) {}

  std::optional<StepParts> run() {
    if (!find_gradient()) return std::nullopt;
    divide();
    // Each part reads values from before the step, so neither may overwrite an input of the other.
    for (const auto& [constant, output] : forward_updates_) {
      if (update_reads_.contains(constant)) return std::nullopt;
    }
    const onnx::nodes::training::Gradient view(*gradient_);
    StepParts parts{.forward = part(forward_, forward_reads_, forward_updates_),
                    .update = Network(""),
                    .loss = view.y(),
                    .variables = view.xs(),
                    .gradients = gradient_->outputs,
                    .handed = {handed_.begin(), handed_.end()}};
    Names given = handed_;
    given.insert(parts.gradients.begin(), parts.gradients.end());
    parts.update = part(update_, update_reads_, update_updates_, given);
    return parts;
  }

 private:
  /// Finds the only Gradient node; it is by initializers, and only updates read it.
  bool find_gradient() {
    bool updates = false;
    for (const onnx::Node& node : graph_.nodes) {
      updates = updates || is_update(node);
      if (!is_gradient(node)) continue;
      if (gradient_) return false;
      gradient_ = &node;
    }
    if (!gradient_ || !updates) return false;
    const onnx::nodes::training::Gradient view(*gradient_);
    const auto inputs = step_.input_names();
    const auto zs = view.zs().value_or(std::vector<std::string>());
    return std::ranges::all_of(view.xs(),
                               [&](const auto& x) { return graph_.initializers.contains(x); }) &&
           std::ranges::all_of(
               zs, [&](const auto& z) { return std::ranges::find(inputs, z) != inputs.end(); }) &&
           view.xs().size() == gradient_->outputs.size() &&
           std::ranges::none_of(gradient_->outputs, &std::string::empty);
  }

  void divide() {
    Names needed, written;
    for (const auto& output : graph_.outputs) needed.insert(output.name);
    needed.insert(onnx::nodes::training::Gradient(*gradient_).y());
    for (const onnx::Node& node : std::views::reverse(graph_.nodes)) {
      if (&node == gradient_) continue;
      const bool forward = std::ranges::any_of(
          node.outputs, [&](const auto& name) { return needed.contains(name); });
      auto& reads = forward ? forward_reads_ : update_reads_;
      for (auto& name : read_names(node)) {
        if (forward) needed.insert(name);
        reads.insert(std::move(name));
      }
      if (forward) written.insert(node.outputs.begin(), node.outputs.end());
      (forward ? forward_ : update_).insert((forward ? forward_ : update_).begin(), node);
    }
    for (const auto& [constant, output] : step_.updates()) {
      (written.contains(output) ? forward_updates_ : update_updates_)[constant] = output;
    }
    std::ranges::set_intersection(update_reads_, written, std::inserter(handed_, handed_.end()));
  }

  /// Network of the nodes that read `reads`; values of other nodes become inputs.
  Network part(std::vector<onnx::Node> nodes, const Names& reads, const Updates& updates,
               const Names& given = {}) const {
    onnx::Model model = step_.model();
    model.graph.nodes = std::move(nodes);
    model.graph.values.clear();
    std::erase_if(model.graph.initializers, [&](const auto& entry) {
      return !reads.contains(entry.first) && !updates.contains(entry.first);
    });
    std::erase_if(model.graph.inputs,
                  [&](const auto& input) { return !reads.contains(input.name); });
    for (const std::string& name : given) model.graph.inputs.push_back({name, {}});
    if (given.empty()) {
      for (const std::string& name : handed_) model.graph.outputs.push_back({name, {}});
    } else {
      model.graph.outputs.clear();
    }
    return network_of_constants(std::move(model), updates);
  }

  const Network& step_;
  const onnx::Graph& graph_;
  const onnx::Node* gradient_ = nullptr;
  std::vector<onnx::Node> forward_, update_;
  Names forward_reads_, update_reads_, handed_;
  Updates forward_updates_, update_updates_;
};

/// Empty for a step in another form than that of `StepGraph`.
std::optional<StepParts> parts_of(const Network& step) { return StepSplitter(step).run(); }

}  // namespace
}  // namespace d5::detail

namespace d5 {

StepGraph::StepGraph(Optimizer& optimizer) {
  GraphExecutor& executor = optimizer.executor();
  Network step = detail::step_network(optimizer);
  inference_ = detail::inference_file(executor.network(), optimizer.loss());
  take(std::move(step), {.frameworks = frameworks_of(executor)});
}

StepGraph StepGraph::load(const std::string& path, ExecutorOptions options) {
  detail::StepFile file = detail::load_step_file(path);
  StepGraph result;
  result.inference_ = std::move(file.inference);
  result.take(std::move(file.step), std::move(options));
  for (auto& [input, value] : file.numbers) {
    const auto number = std::ranges::find(result.numbers_, input, &Number::input);
    if (number != result.numbers_.end()) *number->value = value;
  }
  return result;
}

/// Runs forward and backward as the optimizer does, then the rest.
struct StepGraph::Halves {
  explicit Halves(detail::StepParts both) : parts(std::move(both)) {}

  detail::StepParts parts;
  std::unique_ptr<GraphExecutor> update;
  ValueMap outputs;
  BatchFeed feed;
};

StepGraph::StepGraph() = default;
StepGraph::StepGraph(StepGraph&&) noexcept = default;
StepGraph& StepGraph::operator=(StepGraph&&) noexcept = default;
StepGraph::~StepGraph() = default;

void StepGraph::take(Network step, ExecutorOptions options) {
  network_ = std::make_unique<Network>(std::move(step));
  if (auto parts = detail::parts_of(*network_)) {
    halves_ = std::make_unique<Halves>(std::move(*parts));
    halves_->update = make_executor(halves_->parts.update);
    options.gradients = halves_->parts.variables;
    options.parameter_gradients = false;
    executor_ = make_executor(halves_->parts.forward, std::move(options));
  } else {
    executor_ = make_executor(*network_, std::move(options));
  }
  hyper_parameters_ = std::make_unique<HyperParameters>();
  const Network& network = *network_;
  std::size_t gradients = 0;
  for (const onnx::Node& node : network.graph().nodes) {
    if (is_gradient(node)) {
      const onnx::nodes::training::Gradient view(node);
      const auto xs = view.xs();
      std::ranges::copy_if(xs, std::back_inserter(parameters_), [&](const std::string& name) {
        return network.updates().contains(name);
      });
      loss_ = ++gradients == 1 ? view.y() : "";
    } else if (detail::is_update(node)) {
      take_rule(node);
    }
  }
}

void StepGraph::take_rule(const onnx::Node& node) {
  (void)operator_for(node);  // refuses nodes that do not fit
  const detail::UpdateWords words = detail::words_of(node);
  UpdateRule& rule = *rules_.emplace_back(make_update_rule(words.optimizer, words.settings));
  hyper_parameters_->bind(rule);
  OptionList list;
  rule.declare(list);
  const auto inputs = network().input_names();
  for (std::size_t h = 0; h < words.hyper_parameters.size(); ++h) {
    const auto number =
        std::ranges::find(list.numbers(), words.hyper_parameters[h], &OptionList::Number::name);
    const std::string& input = node.inputs.at(1 + h);
    if (number == list.numbers().end() || std::ranges::find(inputs, input) == inputs.end()) {
      continue;
    }
    numbers_.push_back({number->value, input});
  }
  for (const auto& [constant, output] : network().updates()) {
    if (output == node.inputs.front()) counter_ = constant;
  }
}

const ValueMap& StepGraph::step(const Batch& batch) {
  fed_.values = batch.values;
  for (const Number& number : numbers_) {
    fed_.values[number.input] = Tensor::scalar(*number.value);
  }
  network_->values_changed();
  if (!halves_) return executor_->inference(feed_.of(*network_, fed_));
  return step_in_halves();
}

const ValueMap& StepGraph::step_in_halves() {
  Halves& halves = *halves_;
  const detail::StepParts& parts = halves.parts;
  executor_->network().values_changed();
  const ValueMap& outputs =
      executor_->inference_and_backprop(feed_.of(executor_->network(), fed_), parts.loss);
  halves.outputs.clear();
  for (const std::string& name : network_->output_names()) {
    if (const auto output = outputs.find(name); output != outputs.end()) {
      halves.outputs[name] = output->second;
    }
  }
  if (executor_->ended_early()) return halves.outputs;
  executor_->synchronise();
  for (const std::string& name : parts.handed) fed_.values[name] = outputs.at(name);
  for (std::size_t i = 0; i < parts.variables.size(); ++i) {
    fed_.values[parts.gradients[i]] = executor_->gradient(parts.variables[i]).on_host();
  }
  halves.update->inference(halves.feed.of(halves.update->network(), fed_));
  network_->values_changed();
  return halves.outputs;
}

std::int64_t StepGraph::steps() const {
  if (counter_.empty()) return 0;
  return network_->fetch(counter_).item<std::int64_t>();
}

Network StepGraph::inference() const {
  Network result(detail::with_values_of(*network_, inference_->model));
  return result.copy();
}

void StepGraph::save(const std::string& path) const {
  detail::StepFile file{.step = *network_, .inference = inference_, .numbers = {}};
  for (const Number& number : numbers_) file.numbers[number.input] = *number.value;
  detail::save_step_file(file, path);
}

}  // namespace d5
