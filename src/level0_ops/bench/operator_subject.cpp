// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/bench/operator_subject.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "level0_ops/run/differentiable_inputs.hpp"
#include "level0_ops/run/output_gradients.hpp"

namespace d5 {
namespace {

using Passes = BenchOptions::Passes;

/// The type of the first floating-point tensor; without any, of the first tensor.
DType computed_in(const OperatorCase& one) {
  std::vector<DType> types;
  for (const Value& input : one.inputs) {
    if (input.is_tensor()) types.push_back(input.tensor().dtype());
  }
  const auto real = std::ranges::find_if(types, is_floating_point);
  if (real != types.end()) return *real;
  return types.empty() ? DType::float32 : types.front();
}

Work work_of(const Cost& cost, const OperatorCase& one) {
  return {
      .flop = cost.flop, .bytes = cost.bytes_read + cost.bytes_written, .dtype = computed_in(one)};
}

/// The inputs whose gradients `pass` computes; nothing: all.
std::optional<Places> gradients_of(const OperatorCase& one, const OperatorRegistry& registry,
                                   Passes pass) {
  if (pass != Passes::backward_data && pass != Passes::backward_weights) return {};
  const auto inputs =
      detail::differentiable_inputs(one, *operator_for(one.node, std::vector{&registry}));
  if (pass == Passes::backward_weights && inputs.size() == 1) {
    throw Unsupported(fmt::format(
        "{}: only input {} has a gradient, so there are no weights; 'backward-data' is all of it",
        onnx::describe(one.node), inputs[0]));
  }
  Places chosen;
  for (const std::size_t input : inputs) {
    if ((input == inputs[0]) == (pass == Passes::backward_data)) chosen.add(input);
  }
  return chosen;
}

}  // namespace

namespace detail {

std::string name_of(Passes pass) {
  return std::ranges::find(passes_by_name(), pass, [](const auto& entry) { return entry.second; })
      ->first;
}

Measurement pass_record(const OperatorCase& one, const std::string& framework, Passes pass) {
  Measurement record;
  record.subject = one.line;
  record.level = "operator";
  record.framework = framework;
  record.conditions = one.sweep.values;
  record.conditions["pass"] = identity(name_of(pass));
  return record;
}

std::shared_ptr<OperatorRunner> plan_pass(const OperatorCase& one, const std::string& name,
                                          Passes pass, Device device) {
  const auto& registry = framework(name).part<OperatorRegistry>();
  const Mode mode = pass == Passes::forward ? Mode::inference : Mode::training;
  return std::make_shared<OperatorRunner>(registry, one.node, one.inputs, mode, Guard::off, device,
                                          gradients_of(one, registry, pass));
}

Subject judged_subject(const OperatorCase& one, const std::string& framework, Passes pass,
                       Device device, const std::shared_ptr<OperatorJudge>& judge) {
  const auto runner = plan_pass(one, framework, pass, device);
  Subject subject{.record = pass_record(one, framework, pass)};
  subject.record.framework_version = d5::framework(framework).version();
  subject.record.device = to_string(device);
  subject.synchronise = [runner] { runner->synchronise(); };
  if (pass == Passes::forward) {
    subject.run = [runner] { runner->forward(); };
    subject.work = work_of(runner->cost(), one);
    subject.judge = [=](Subject::Moment) {
      runner->forward();
      runner->synchronise();
      return judge->outputs(*runner, framework);
    };
    return subject;
  }
  runner->forward();
  runner->synchronise();
  const auto gradients = output_gradients(*runner, one);
  if (std::ranges::none_of(gradients, &Tensor::defined)) {
    throw Unsupported(fmt::format("{}: no output is of real numbers, so nothing has a gradient",
                                  onnx::describe(one.node)));
  }
  runner->backward(gradients);  // throws here rather than during measurement
  subject.run = [runner, gradients] { runner->backward(gradients); };
  if (const auto cost = runner->gradient_cost()) subject.work = work_of(*cost, one);
  subject.judge = [=](Subject::Moment) {
    runner->backward(gradients);
    runner->synchronise();
    return judge->gradients(*runner, framework, gradients);
  };
  return subject;
}

}  // namespace detail

const std::map<std::string, Passes>& passes_by_name() {
  static const std::map<std::string, Passes> passes{{"forward", Passes::forward},
                                                    {"backward", Passes::backward},
                                                    {"backward-data", Passes::backward_data},
                                                    {"backward-weights", Passes::backward_weights},
                                                    {"both", Passes::both},
                                                    {"each", Passes::each}};
  return passes;
}

Subject operator_subject(const OperatorCase& one, const std::string& framework, Passes pass,
                         Device device) {
  return detail::judged_subject(one, framework, pass, device,
                                std::make_shared<detail::OperatorJudge>(one));
}

}  // namespace d5
