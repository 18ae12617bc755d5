// SPDX-License-Identifier: Apache-2.0
#include "level1_network/validation/answers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/random.hpp"
#include "level1_network/graph/parameter_layout.hpp"

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

ValueMap random_gradients(GraphExecutor& reference, const ValueMap& inputs) {
  const ValueMap state = reference.state();
  ValueMap gradients;
  for (const auto& [name, value] : reference.inference(inputs)) {
    if (!value.is_tensor() || !may_be_trained(value.tensor().dtype())) continue;
    Tensor gradient = Tensor::empty(value.tensor().dtype(), value.tensor().shape());
    RandomStream random(0, stream_of("gradient of " + name));
    dispatch(FloatTypes{}, gradient.dtype(), "gradients of output '" + printable(name) + "'",
             [&]<class T>() {
               for (T& slope : gradient.span<T>()) slope = static_cast<T>(random.normal());
             });
    gradients[name] = std::move(gradient);
  }
  reference.restore(state);  // undo the effects of the run
  if (gradients.empty()) throw Unsupported("no output has a gradient: none is a float");
  return gradients;
}

}  // namespace d5
