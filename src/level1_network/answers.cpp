// SPDX-License-Identifier: Apache-2.0
#include "level1_network/answers.hpp"

#include <algorithm>
#include <ranges>

namespace d5 {

std::vector<Answer> answers_of(GraphExecutor& executor, const ValueMap& inputs,
                               std::string_view loss) {
  const ValueMap& outputs =
      loss.empty() ? executor.inference(inputs) : executor.inference_and_backprop(inputs, loss);
  executor.synchronise();
  std::vector<Answer> answers;
  for (const auto& [name, value] : outputs) {
    answers.push_back(
        {"output " + name, value.is_tensor() ? Value(value.tensor().copy({})) : value});
  }
  if (loss.empty()) return answers;
  for (const Parameter& parameter : std::views::reverse(executor.network().parameters())) {
    answers.push_back({"gradient of " + parameter.name, parameter.gradient.copy({})});
  }
  return answers;
}

const Value* find(const std::vector<Answer>& answers, std::string_view tensor) {
  const auto place = std::ranges::find(answers, tensor, &Answer::tensor);
  return place == answers.end() ? nullptr : &place->value;
}

}  // namespace d5
