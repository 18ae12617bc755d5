// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/network_validation.hpp"

#include "d5/core/error.hpp"
#include "d5/level1_network/execution_interrupt.hpp"
#include "level1_network/rounding_judge.hpp"
#include "level1_network/value_check.hpp"

namespace d5 {
namespace {

std::vector<Measurement> check_within(const Measurement& base, const std::vector<Answer>& got,
                                      const std::vector<Answer>& expected,
                                      ForwardTolerance tolerance) {
  Measurement described = base;
  described.conditions["tolerance"] = to_string(tolerance);
  std::vector<Measurement> results;
  for (const auto& [tensor, value] : expected) {
    const Value* answer = find(got, tensor);
    results.push_back(answer ? check_value(described, tensor, *answer, value, tolerance)
                             : missing_value(described, tensor));
  }
  return results;
}

std::vector<Measurement> test(GraphExecutor& subject, GraphExecutor& reference,
                              const ValueMap& inputs, std::string_view loss,
                              const std::optional<ForwardTolerance>& tolerance,
                              const Interrupt& interrupt) {
  const InterruptibleRuns of_subject(subject, interrupt), of_reference(reference, interrupt);
  Measurement base = error_record(printable(subject.network().name()), subject.framework());
  base.conditions["reference"] = reference.framework();
  return guarded(base, [&] {
    if (tolerance) {
      const auto expected = answers_of(reference, inputs, loss);
      return check_within(base, answers_of(subject, inputs, loss), expected, *tolerance);
    }
    const auto got = answers_of(subject, inputs, loss);
    return RoundingJudge(reference, inputs, std::string(loss), interrupt).judge(base, got);
  });
}

}  // namespace

std::vector<Measurement> test_executor(GraphExecutor& subject, GraphExecutor& reference,
                                       const ValueMap& inputs,
                                       std::optional<ForwardTolerance> tolerance,
                                       const Interrupt& interrupt) {
  return test(subject, reference, inputs, "", tolerance, interrupt);
}

std::vector<Measurement> test_executor_backprop(GraphExecutor& subject, GraphExecutor& reference,
                                                const ValueMap& inputs, std::string_view loss,
                                                std::optional<ForwardTolerance> tolerance,
                                                const Interrupt& interrupt) {
  return test(subject, reference, inputs, loss, tolerance, interrupt);
}

}  // namespace d5
