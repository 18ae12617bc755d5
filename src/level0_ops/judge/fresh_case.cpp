// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/judge/fresh_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "core/tensor/float64.hpp"
#include "d5/core/entries/framework.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/run/operator_runner.hpp"
#include "level0_ops/case/case_text.hpp"
#include "level0_ops/operator/drawn_values.hpp"
#include "level0_ops/operator/tensor_conversion.hpp"
#include "level0_ops/run/differentiable_inputs.hpp"
#include "level0_ops/validation/float64_inputs.hpp"
#include "level0_ops/validation/reference_gradient.hpp"
#include "level0_ops/validation/rounding_tolerance.hpp"

namespace d5::detail {
namespace {

constexpr const char* kJudgeName = "reference";
constexpr double kLargeScale = 16;

const OperatorRegistry& reference() { return framework(kJudgeName).part<OperatorRegistry>(); }

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

double largest_magnitude(const Value& value) {
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

/// The reference's results of a pass, and what they were made of.
struct PassResults {
  std::vector<Value> outputs = {};           ///< in the case's types
  std::vector<Value> output_gradients = {};  ///< drawn; in the case's types
  std::vector<Value> written = {};           ///< as computed: outputs, or gradients of inputs
  Cost cost = {};
  bool exact = true;  ///< computed in float64
};

Value in_type(const Tensor& tensor, const ValueDesc& desc) {
  const bool rounds = is_floating_point(tensor.dtype()) && tensor.dtype() != desc.tensor.dtype;
  return rounds ? Value(converted(tensor, desc.tensor.dtype)) : Value(tensor);
}

/// Runs the reference, in float64 if `exact`. `outputs` are the case's.
PassResults run_reference(const OperatorCase& one, JudgedPass pass, bool exact,
                          std::span<const ValueDesc> outputs) {
  OperatorRunner runner(reference(), one.node,
                        exact ? float64_inputs(reference(), one) : one.inputs,
                        pass == JudgedPass::forward ? Mode::inference : Mode::training);
  runner.forward();
  PassResults results{.cost = runner.cost(), .exact = exact};
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const bool exists = outputs[i].is_tensor();
    results.outputs.push_back(exists ? in_type(runner.output(i).tensor(), outputs[i]) : Value());
    if (pass == JudgedPass::forward) {
      results.written.push_back(exists ? runner.output(i) : Value());
    }
  }
  if (pass == JudgedPass::forward) return results;
  std::vector<Tensor> gradients = directions_of(runner, one);
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (!gradients[i].defined()) {
      results.output_gradients.emplace_back();
      continue;
    }
    const Value rounded = in_type(gradients[i], outputs[i]);
    gradients[i] = exact ? to_float64(rounded.tensor()) : rounded.tensor();
    results.output_gradients.push_back(rounded);
  }
  runner.backward(gradients);
  for (std::size_t i = 0; i < one.inputs.size(); ++i) {
    const Tensor& gradient = runner.grad_input(i);
    results.written.push_back(gradient.defined() ? Value(gradient) : Value());
  }
  return results;
}

/// In float64 if the reference can.
PassResults results_of(const OperatorCase& one, JudgedPass pass,
                       std::span<const ValueDesc> outputs) {
  try {
    return run_reference(one, pass, true, outputs);
  } catch (const Error&) {
    return run_reference(one, pass, false, outputs);
  }
}

std::int64_t most_elements(std::span<const ValueDesc> tensors) {
  std::int64_t most = 0;
  for (const ValueDesc& one : tensors) {
    if (one.is_tensor()) most = std::max(most, one.tensor.shape.elements());
  }
  return most;
}

void expect_judgeable(const OperatorCase& one) {
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
}

}  // namespace

std::vector<ValueDesc> descriptions(std::span<const Value> values) {
  std::vector<ValueDesc> result;
  for (const Value& value : values) result.push_back(value.desc());
  return result;
}

FreshCase::FreshCase(CaseLine line, JudgedPass pass) : line_(std::move(line)), pass_(pass) {
  const OperatorCase one = line_.draw(), other = parse_case(line_.line, line_.seed + 1);
  expect_judgeable(one);
  const std::string who = onnx::describe(one.node);
  const auto op = reference().make(one.node);
  const auto inputs = descriptions(one.inputs), outputs = inferred_outputs(*op, one);
  expect_numbers(one, inputs);
  expect_numbers(one, outputs);
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
  read_ = inputs;
  const auto constants = pointers(one.inputs);
  const InferContext context(one.node, inputs, constants);
  std::optional<Cost> cost;
  if (pass == JudgedPass::forward) {
    written_ = outputs;
    cost = op->cost(context);
  } else {
    read_.insert(read_.end(), outputs.begin(), outputs.end());
    read_.insert(read_.end(), outputs.begin(), outputs.end());
    written_.resize(inputs.size());
    Places wanted;
    for (const std::size_t i : differentiable_inputs(one, *op)) {
      written_[i] = inputs[i];
      wanted.add(i);
    }
    if (wanted.empty()) throw Unsupported(fmt::format("{}: it has no gradient", who));
    cost = op->gradient_cost(context, wanted);
  }
  if (!cost) return;
  flop_ = cost->flop;
  bytes_ = cost->bytes_read + cost->bytes_written;
}

FreshCall FreshCase::draw(RandomStream& random, Values values) const {
  const std::uint64_t high = random.bits(), seed = high << 32 | random.bits();
  FreshCall call{.drawn = parse_case(line_.line, seed)};
  const auto op = reference().make(call.drawn.node);
  const auto outputs = inferred_outputs(*op, call.drawn);
  const bool is_large = values == Values::large;
  std::vector<double> usual;  // largest results for inputs of the usual deviation
  if (is_large) {
    for (const Value& value : results_of(call.drawn, pass_, outputs).written) {
      usual.push_back(largest_magnitude(value));
    }
    for (const std::size_t i : scalable_) scale(call.drawn.inputs[i].tensor());
  }
  const PassResults results = results_of(call.drawn, pass_, outputs);
  call.judge = results.exact ? "reference in float64" : "reference";
  call.read = call.drawn.inputs;
  if (pass_ == JudgedPass::backward) {
    call.read.insert(call.read.end(), results.outputs.begin(), results.outputs.end());
    call.read.insert(call.read.end(), results.output_gradients.begin(),
                     results.output_gradients.end());
  }
  call.written = pass_ == JudgedPass::forward ? outputs : written_;
  for (std::size_t i = 0; i < call.written.size(); ++i) {
    ForwardTolerance& tolerance = call.tolerances.emplace_back();
    if (!call.written[i].is_tensor()) {
      call.expected.emplace_back();
      continue;
    }
    const Tensor& computed = results.written[i].tensor();
    call.expected.push_back(in_type(computed, call.written[i]));
    const std::int64_t elements =
        pass_ == JudgedPass::forward ? most_elements(call.written) : computed.elements();
    tolerance = rounding_tolerance(summing_cost(results.cost, call.drawn), elements,
                                   call.written[i].tensor.dtype);
    if (!is_large) continue;
    const double now = largest_magnitude(results.written[i]);
    if (usual[i] > 0 && now > usual[i]) tolerance.absolute *= now / usual[i];
  }
  return call;
}

}  // namespace d5::detail
