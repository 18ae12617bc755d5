// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/validation/expected_outputs.hpp"

#include <algorithm>

#include "d5/core/entries/framework.hpp"
#include "level0_ops/operator/tensor_conversion.hpp"
#include "level0_ops/validation/float64_inputs.hpp"
#include "level0_ops/validation/rounding_tolerance.hpp"

namespace d5::detail {
namespace {

/// The number of elements of the largest output.
std::int64_t elements_of(const std::vector<Value>& outputs) {
  std::int64_t elements = 0;
  for (const Value& output : outputs) {
    if (output.is_tensor()) elements = std::max(elements, output.tensor().elements());
  }
  return elements;
}

}  // namespace

Value ExpectedOutputs::value(std::size_t i, const Value& got) const {
  const Value& own = values[i];
  const bool rounds = exact && got.is_tensor() && own.is_tensor();
  if (!rounds || !is_floating_point(got.tensor().dtype())) return own;
  return converted(own.tensor(), got.tensor().dtype());
}

ForwardTolerance ExpectedOutputs::tolerance(const Value& wanted) const {
  const DType dtype = wanted.is_tensor() ? wanted.tensor().dtype() : DType::float32;
  return rounding_tolerance(cost, elements_of(values), dtype);
}

ExpectedOutputs expected_outputs(const OperatorCase& op_case, const std::string& reference,
                                 bool exact, const Interrupt& interrupt) {
  if (!op_case.expected.empty()) return {.values = op_case.expected};
  const auto& registry = framework(reference).part<OperatorRegistry>();
  OperatorRunner judge(registry, op_case.node,
                       exact ? float64_inputs(registry, op_case) : op_case.inputs);
  judge.forward();
  interrupt.check(op_case.line);
  ExpectedOutputs expected{.cost = summing_cost(judge.cost(), op_case), .exact = exact};
  for (std::size_t i = 0; i < judge.output_count(); ++i) expected.values.push_back(judge.output(i));
  return expected;
}

std::vector<std::size_t> comparable_outputs(const OperatorCase& op_case, const OperatorRunner& got,
                                            const ExpectedOutputs& expected) {
  std::vector<std::size_t> outputs;
  for (std::size_t i = 0; i < std::min(got.output_count(), expected.values.size()); ++i) {
    const bool unknown = !op_case.expected.empty() && expected.values[i].kind() == ValueKind::none;
    if (op_case.node.has_output(i) && !unknown) outputs.push_back(i);
  }
  return outputs;
}

}  // namespace d5::detail
