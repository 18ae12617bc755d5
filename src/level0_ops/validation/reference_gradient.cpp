// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/validation/reference_gradient.hpp"

#include <fmt/format.h>

#include "core/tensor/float64.hpp"
#include "d5/core/entries/framework.hpp"
#include "d5/level0_ops/run/operator_runner.hpp"
#include "d5/onnx/schema.hpp"
#include "level0_ops/operator/tensor_conversion.hpp"
#include "level0_ops/run/output_gradients.hpp"
#include "level0_ops/validation/evidence.hpp"
#include "level0_ops/validation/float64_inputs.hpp"
#include "level0_ops/validation/rounding_tolerance.hpp"

namespace d5::detail {

std::vector<Tensor> directions_of(const OperatorRunner& runner, const OperatorCase& op_case) {
  std::vector<Tensor> all = output_gradients(runner, op_case), wanted = all;
  const auto schema = onnx::schema_of(op_case.node);
  bool any = false;
  for (std::size_t k = 0; k < wanted.size(); ++k) {
    const auto* output = schema ? onnx::parameter(schema->outputs, k) : nullptr;
    if (output && output->non_differentiable) wanted[k] = Tensor();
    any = any || wanted[k].defined();
  }
  return any ? wanted : all;
}

std::vector<Measurement> compare_with_reference(const Measurement& base,
                                                const OperatorRegistry& subject,
                                                const OperatorCase& op_case,
                                                const Interrupt& interrupt) {
  const auto& reference = framework("reference").part<OperatorRegistry>();
  OperatorRunner got(subject, op_case.node, op_case.inputs, Mode::training, Guard::on);
  OperatorRunner judge(reference, op_case.node, float64_inputs(reference, op_case), Mode::training);
  got.forward();
  interrupt.check(op_case.line);
  judge.forward();
  const std::vector<Tensor> directions = directions_of(got, op_case);
  std::vector<Tensor> exact;
  for (const Tensor& direction : directions) {
    exact.push_back(direction.defined() ? to_float64(direction) : Tensor());
  }
  interrupt.check(op_case.line);
  got.backward(directions);
  judge.backward(exact);
  std::vector<Measurement> results;
  for (std::size_t i = 0; i < op_case.inputs.size(); ++i) {
    const Tensor& gradient = got.grad_input(i);
    if (!gradient.defined()) continue;
    const Tensor expected = converted(judge.grad_input(i), gradient.dtype());
    const Difference difference =
        compare_values(gradient, expected,
                       rounding_tolerance(summing_cost(judge.cost(), op_case), gradient.elements(),
                                          gradient.dtype()));
    Measurement& one = results.emplace_back(base);
    one.samples = {difference.largest_relative};
    one.conditions["tensor"] = identity(fmt::format("gradient of input {}", i));
    one.conditions["mode"] = identity("reference");
    weigh_evidence(one, condition_of(one, "tensor"), expected, Expectation::computed);
    if (difference.equal) continue;
    one.status = Status::failed;
    one.reason = fmt::format("gradient of input {}: {}", i, difference.where);
  }
  return results;
}

}  // namespace d5::detail
