// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/bench/operator_judge.hpp"

#include <fmt/format.h>

#include "core/tensor/float64.hpp"
#include "d5/core/error.hpp"
#include "d5/core/framework.hpp"
#include "level0_ops/operator/drawn_values.hpp"
#include "level0_ops/operator/tensor_conversion.hpp"
#include "level0_ops/validation/draw_judge.hpp"
#include "level0_ops/validation/float64_inputs.hpp"
#include "level0_ops/validation/rounding_tolerance.hpp"

namespace d5::detail {
namespace {

constexpr const char* kReference = "reference";
constexpr const char* kExact = "reference in float64";

Value on_host(const Value& value) {
  return value.is_tensor() ? Value(value.tensor().on_host()) : value;
}

Verdict wrong(const std::string& judge, const std::string& what, const Difference& difference) {
  return {Verdict::Is::wrong, judge, fmt::format("{}: {}", what, difference.where)};
}

/// In float64, or where that cannot be, in the case's own types. Throws: what the latter throws.
template <class F>
std::string exactly_if_it_can(F&& compute) {
  try {
    compute(true);
    return kExact;
  } catch (const Interrupted&) {
    throw;
  } catch (const Error&) {
    compute(false);
    return kReference;
  }
}

}  // namespace

Verdict OperatorJudge::outputs(const OperatorRunner& runner) {
  if (one_.expected.empty() && draws_random_numbers(one_.node)) {
    std::vector<Value> drawn;
    for (std::size_t i = 0; i < runner.output_count(); ++i) {
      drawn.push_back(on_host(runner.output(i)));
    }
    DrawJudge judge(one_.node);
    judge.add(one_.inputs, drawn);
    const Measurement record = judge.record(error_record());
    const bool is_wrong = record.status == Status::failed;
    return {is_wrong ? Verdict::Is::wrong : Verdict::Is::right, "its distribution", record.reason};
  }
  if (!outputs_) {
    judge_ = exactly_if_it_can(
        [&](bool exact) { outputs_ = expected_outputs(one_, kReference, exact, {}); });
    if (!one_.expected.empty()) judge_ = "the case";
  }
  for (const std::size_t i : comparable_outputs(one_, runner, *outputs_)) {
    const Value got = on_host(runner.output(i)), wanted = outputs_->value(i, got);
    const Difference difference = compare_values(got, wanted, outputs_->tolerance(wanted));
    if (!difference.equal) return wrong(judge_, fmt::format("output {}", i), difference);
  }
  return {Verdict::Is::right, judge_, ""};
}

Verdict OperatorJudge::gradients(const OperatorRunner& runner,
                                 const std::vector<Tensor>& directions) {
  if (draws_random_numbers(one_.node)) {
    return {Verdict::Is::unknown, "", "it draws random numbers"};
  }
  if (!gradients_) {
    judge_ = exactly_if_it_can([&](bool exact) { compute_gradients(directions, exact); });
  }
  for (std::size_t i = 0; i < one_.inputs.size() && i < gradients_->values.size(); ++i) {
    const Tensor& gradient = runner.grad_input(i);
    const Tensor& exact = gradients_->values[i];
    if (!gradient.defined() || !exact.defined()) continue;
    const Tensor got = gradient.on_host();
    const Difference difference =
        compare_values(got, converted(exact, got.dtype()),
                       rounding_tolerance(gradients_->cost, got.elements(), got.dtype()));
    if (!difference.equal) return wrong(judge_, fmt::format("gradient of input {}", i), difference);
  }
  return {Verdict::Is::right, judge_, ""};
}

void OperatorJudge::compute_gradients(const std::vector<Tensor>& directions, bool exact) {
  const auto& registry = framework(kReference).part<OperatorRegistry>();
  OperatorRunner reference(registry, one_.node,
                           exact ? float64_inputs(registry, one_) : one_.inputs, Mode::training);
  reference.forward();
  std::vector<Tensor> own;
  for (const Tensor& direction : directions) {
    const Tensor host = direction.defined() ? direction.on_host() : Tensor();
    own.push_back(exact && host.defined() ? to_float64(host) : host);
  }
  reference.backward(own);
  Gradients found{.values = {}, .cost = reference.cost()};
  for (std::size_t i = 0; i < one_.inputs.size(); ++i) {
    const Tensor& gradient = reference.grad_input(i);
    found.values.push_back(gradient.defined() ? gradient.copy({}) : Tensor());
  }
  gradients_ = std::move(found);
}

}  // namespace d5::detail
