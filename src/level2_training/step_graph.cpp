// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/step_graph.hpp"

#include <algorithm>
#include <set>

#include "d5/core/error.hpp"
#include "d5/level1_network/executor_word.hpp"
#include "d5/level2_training/loss.hpp"
#include "d5/level2_training/update_rule.hpp"
#include "d5/onnx/nodes.hpp"
#include "level1_network/differentiated_graph.hpp"
#include "level2_training/step_file.hpp"
#include "level2_training/step_model.hpp"
#include "level2_training/update_operator.hpp"

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

void StepGraph::take(Network step, ExecutorOptions options) {
  executor_ = make_executor(std::move(step), std::move(options));
  hyper_parameters_ = std::make_unique<HyperParameters>();
  const Network& network = executor_->network();
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
  for (const auto& [name, value] : batch.values) fed_.values[name] = value;
  for (const Number& number : numbers_) {
    fed_.values[number.input] = Tensor::scalar(*number.value);
  }
  return executor_->inference(feed_.of(executor_->network(), fed_));
}

std::int64_t StepGraph::steps() const {
  if (counter_.empty()) return 0;
  return executor_->network().fetch(counter_).item<std::int64_t>();
}

Network StepGraph::inference() const {
  Network result(detail::with_values_of(executor_->network(), inference_->model));
  return result.copy();
}

void StepGraph::save(const std::string& path) const {
  detail::StepFile file{.step = executor_->network(), .inference = inference_, .numbers = {}};
  for (const Number& number : numbers_) file.numbers[number.input] = *number.value;
  detail::save_step_file(file, path);
}

}  // namespace d5
