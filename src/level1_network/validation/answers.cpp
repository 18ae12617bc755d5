// SPDX-License-Identifier: Apache-2.0
#include "level1_network/validation/answers.hpp"

#include <algorithm>
#include <ranges>

namespace d5 {

std::vector<Answer> answers_of(GraphExecutor& executor, const ValueMap& inputs,
                               const BackwardBegin& begin) {
  std::vector<Answer> answers;
  const auto take = [&](const ValueMap& outputs) {
    executor.synchronise();
    for (const auto& [name, value] : outputs) {
      answers.push_back(
          {"output " + name, value.is_tensor() ? Value(value.tensor().copy({})) : value});
    }
  };
  const auto& gradients = begin.output_gradients;
  if (!begin.loss.empty()) {
    take(executor.inference_and_backprop(inputs, begin.loss));
  } else if (gradients.empty()) {
    take(executor.inference(inputs));
    return answers;
  } else {
    std::vector<std::string> names;
    for (const auto& [name, gradient] : gradients) names.push_back(name);
    const auto batch = executor.forward(inputs, names);
    take(batch->outputs());
    batch->backward(gradients);
    executor.synchronise();
  }
  for (const Parameter& parameter : std::views::reverse(executor.network().parameters())) {
    answers.push_back({"gradient of " + parameter.name, parameter.gradient.copy({})});
  }
  if (begin.then) begin.then(executor, inputs, answers);
  return answers;
}

const Value* find(const std::vector<Answer>& answers, std::string_view tensor) {
  const auto place = std::ranges::find(answers, tensor, &Answer::tensor);
  return place == answers.end() ? nullptr : &place->value;
}

}  // namespace d5
