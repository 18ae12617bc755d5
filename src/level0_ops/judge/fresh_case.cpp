// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/judge/fresh_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "level0_ops/case/case_text.hpp"
#include "level0_ops/operator/drawn_values.hpp"
#include "level0_ops/validation/expected_outputs.hpp"

namespace d5::detail {
namespace {

constexpr const char* kReference = "reference";
constexpr double kLargeScale = 16;

const OperatorRegistry& reference() { return framework(kReference).part<OperatorRegistry>(); }

std::vector<ValueDesc> descriptions(const std::vector<Value>& values) {
  std::vector<ValueDesc> result;
  for (const Value& value : values) result.push_back(value.desc());
  return result;
}

std::vector<const Value*> pointers(const std::vector<Value>& values) {
  std::vector<const Value*> result;
  for (const Value& value : values) {
    result.push_back(value.kind() == ValueKind::none ? nullptr : &value);
  }
  return result;
}

std::vector<ValueDesc> inferred_outputs(const Operator& op, const OperatorCase& one) {
  const auto inputs = descriptions(one.inputs);
  const auto constants = pointers(one.inputs);
  auto outputs = op.infer({one.node, inputs, constants});
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!one.node.has_output(i)) outputs[i] = {};
  }
  return outputs;
}

void expect_numbers(const OperatorCase& one, std::span<const ValueDesc> values) {
  for (const ValueDesc& value : values) {
    if (value.kind == ValueKind::none) continue;
    if (value.is_static() && value.tensor.dtype != DType::string) continue;
    throw Unsupported(
        fmt::format("{}: a source is judged on tensors of numbers of known shapes, "
                    "and the case has {}",
                    onnx::describe(one.node), to_string(value)));
  }
}

void scale(Tensor& tensor) {
  dispatch(FloatTypes{}, tensor.dtype(), "judge: scale", [&]<class T>() {
    for (T& value : tensor.span<T>()) value = T(Arithmetic<T>(Arithmetic<T>(value) * kLargeScale));
  });
}

double largest(const Value& value) {
  double result = 0;
  if (!value.is_tensor()) return result;
  dispatch(AllTypes{}, value.tensor().dtype(), "judge: largest", [&]<class T>() {
    if constexpr (std::is_floating_point_v<Arithmetic<T>>) {
      for (const T& one : value.tensor().span<T>()) {
        const double magnitude = std::fabs(double(Arithmetic<T>(one)));
        if (std::isfinite(magnitude)) result = std::max(result, magnitude);
      }
    }
  });
  return result;
}

/// The reference's outputs in float64 if it can, else in the case's own types.
ExpectedOutputs expected_of(const OperatorCase& one) {
  try {
    return expected_outputs(one, kReference, true, {});
  } catch (const Error&) {
    return expected_outputs(one, kReference, false, {});
  }
}

}  // namespace

FreshCase::FreshCase(CaseLine line) : line_(std::move(line)) {
  const OperatorCase one = line_.draw(), other = parse_case(line_.line, line_.seed + 1);
  const std::string who = onnx::describe(one.node);
  if (const Support known = reference().knows(one.node); !known) {
    throw Unsupported(fmt::format("{}: no reference judges it: {}", who, known.reason));
  }
  if (!one.expected.empty()) {
    throw Unsupported(fmt::format(
        "{}: the case expects given outputs, and a source is judged on fresh inputs; leave out "
        "what follows ->",
        who));
  }
  if (draws_random_numbers(one.node)) {
    throw Unsupported(fmt::format("{}: it draws random numbers, which no reference repeats", who));
  }
  const auto op = reference().make(one.node);
  inputs_ = descriptions(one.inputs);
  outputs_ = inferred_outputs(*op, one);
  expect_numbers(one, inputs_);
  expect_numbers(one, outputs_);
  bool is_drawn = false;
  const CaseText text = text_of_case(line_.line);
  for (std::size_t i = 0; i < one.inputs.size(); ++i) {
    if (!one.inputs[i].is_tensor() || text.inputs[i].has_values) continue;
    const ForwardTolerance none{.relative = 0, .absolute = 0};
    is_drawn |= !compare_values(one.inputs[i], other.inputs[i], none).equal;
    const DType dtype = one.inputs[i].tensor().dtype();
    const bool is_wide = dtype == DType::float32 || dtype == DType::float64;  // others overflow
    if (is_wide && text.inputs[i].rest.empty()) scalable_.push_back(i);
  }
  if (!is_drawn) {
    throw Unsupported(fmt::format(
        "{}: all inputs are given, and a source is judged on fresh ones; write shapes, as 2x3",
        who));
  }
  const auto constants = pointers(one.inputs);
  const Cost cost = op->cost({one.node, inputs_, constants});
  flop_ = cost.flop;
  bytes_ = cost.bytes_read + cost.bytes_written;
}

FreshCall FreshCase::draw(RandomStream& random, Values values) const {
  const std::uint64_t high = random.bits(), seed = high << 32 | random.bits();
  const bool is_large = values == Values::large;
  FreshCall call{.drawn = parse_case(line_.line, seed)};
  const auto op = reference().make(call.drawn.node);
  std::vector<double> usual;  // largest outputs for inputs of the usual deviation
  if (is_large) {
    for (const Value& value : expected_of(call.drawn).values) usual.push_back(largest(value));
    for (const std::size_t i : scalable_) scale(call.drawn.inputs[i].tensor());
  }
  call.outputs = inferred_outputs(*op, call.drawn);
  const ExpectedOutputs expected = expected_of(call.drawn);
  call.judge = expected.exact ? "reference in float64" : "reference";
  for (std::size_t i = 0; i < call.outputs.size(); ++i) {
    if (!call.outputs[i].is_tensor()) {
      call.expected.emplace_back();
      call.tolerances.emplace_back();
      continue;
    }
    const TensorDesc& desc = call.outputs[i].tensor;
    const Value wanted = expected.value(i, Tensor::empty(desc.dtype, desc.shape));
    ForwardTolerance tolerance = expected.tolerance(wanted);
    if (is_large) {
      const double now = largest(expected.values[i]);
      if (usual[i] > 0 && now > usual[i]) tolerance.absolute *= now / usual[i];
    }
    call.expected.push_back(wanted);
    call.tolerances.push_back(tolerance);
  }
  return call;
}

}  // namespace d5::detail
