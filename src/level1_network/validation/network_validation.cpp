// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/validation/network_validation.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/execution_interrupt.hpp"
#include "level1_network/validation/inner_values.hpp"
#include "level1_network/validation/moved_outputs.hpp"
#include "level1_network/validation/rounding_judge.hpp"
#include "level1_network/validation/value_check.hpp"

namespace d5 {
namespace {

std::vector<Measurement> check_within(const Measurement& base, const std::vector<Answer>& got,
                                      const std::vector<Answer>& expected,
                                      ForwardTolerance tolerance) {
  Measurement described = base;
  described.conditions["tolerance"] = setting(to_string(tolerance));
  std::vector<Measurement> results;
  for (const auto& [tensor, value] : expected) {
    const Value* answer = find(got, tensor);
    results.push_back(answer ? check_value(described, tensor, *answer, value, tolerance)
                             : missing_value(described, tensor));
  }
  return results;
}

ValueMap copies_of(const ValueMap& values) {
  ValueMap copies;
  for (const auto& [name, value] : values) {
    copies[name] = value.is_tensor() ? Value(value.tensor().copy({})) : value;
  }
  return copies;
}

/// Throws: ContractError.
void expect_unchanged(const ValueMap& inputs, const ValueMap& before, const std::string& who) {
  for (const auto& [name, value] : inputs) {
    if (compare_values(value, before.at(name), {.relative = 0, .absolute = 0}).equal) continue;
    throw ContractError(fmt::format(
        "{} changed input '{}', which it may only read; kernels write into their outputs", who,
        printable(name)));
  }
}

void mistrust_unmoved(std::vector<Measurement>& records,
                      const std::map<std::string, UnmovedOutput>& unmoved) {
  for (Measurement& record : records) {
    for (const auto& [tensor, output] : unmoved) {
      if (condition_of(record, "tensor") != printable(tensor)) continue;
      detail::mistrust_uncompared(record, printable(tensor), output.words);
    }
  }
}

enum class Backward { off, on };
enum class Outputs { move, may_stay };  ///< whether outputs must depend on the inputs

std::vector<Measurement> test(GraphExecutor& subject, GraphExecutor& reference,
                              const ValueMap& inputs, Backward backward, std::string_view loss,
                              const std::optional<ForwardTolerance>& tolerance,
                              const Interrupt& interrupt, Outputs outputs = Outputs::move) {
  const InterruptibleRuns of_subject(subject, interrupt), of_reference(reference, interrupt);
  Measurement base = error_record(printable(subject.network().name()), subject.framework());
  base.conditions["reference"] = setting(reference.framework());
  return guarded(base, [&] {
    BackwardBegin begin{.loss = std::string(loss)};
    if (backward == Backward::on && loss.empty()) {
      begin.output_gradients = random_gradients(reference, inputs);
    }
    const ValueMap before = copies_of(inputs);
    const auto got = answers_of(subject, inputs, begin);
    expect_unchanged(inputs, before, subject.framework());
    if (tolerance) {
      const auto expected = answers_of(reference, inputs, begin);
      auto records = check_within(base, got, expected, *tolerance);
      if (outputs == Outputs::move) {
        mistrust_unmoved(records, unmoved_outputs(reference, inputs, expected));
      }
      return records;
    }
    RoundingJudge judge(reference, inputs, begin, interrupt);
    if (outputs == Outputs::move) judge.look_for_unmoved();
    return judge.judge(base, got);
  });
}

}  // namespace

std::vector<Measurement> test_executor(GraphExecutor& subject, GraphExecutor& reference,
                                       const ValueMap& inputs,
                                       std::optional<ForwardTolerance> tolerance,
                                       const Interrupt& interrupt) {
  return test(subject, reference, inputs, Backward::off, "", tolerance, interrupt);
}

std::vector<Measurement> test_inner_values(GraphExecutor& subject, GraphExecutor& reference,
                                           const ValueMap& inputs,
                                           std::optional<ForwardTolerance> tolerance,
                                           const Interrupt& interrupt) {
  return test(subject, reference, inputs, Backward::off, "", tolerance, interrupt,
              Outputs::may_stay);
}

std::vector<Measurement> test_executor_backprop(GraphExecutor& subject, GraphExecutor& reference,
                                                const ValueMap& inputs, std::string_view loss,
                                                std::optional<ForwardTolerance> tolerance,
                                                const Interrupt& interrupt) {
  auto results = test(subject, reference, inputs, Backward::on, loss, tolerance, interrupt);
  if (results.size() != 1 || results.front().status != Status::unsupported) return results;
  // Outputs are judged even if there are no gradients.
  auto outputs = test(subject, reference, inputs, Backward::off, "", tolerance, interrupt);
  if (outputs.front().status == Status::unsupported) return outputs;
  results.front().conditions["tensor"] = identity("gradients");
  outputs.push_back(std::move(results.front()));
  return outputs;
}

}  // namespace d5
