// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/validation/differentiable_case.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/tensor/float64.hpp"
#include "d5/onnx/schema.hpp"

namespace d5::detail {
namespace {

std::vector<Value> copies(const std::vector<Value>& inputs) {
  std::vector<Value> result;
  for (const Value& value : inputs) {
    result.push_back(value.is_tensor() && value.tensor().defined() ? Value(value.tensor().copy())
                                                                   : value);
  }
  return result;
}

bool is_real_type(DType dtype) {
  return dtype == DType::float64 || dtype == DType::float32 || dtype == DType::float16 ||
         dtype == DType::bfloat16;
}

void append_elements(const Tensor& tensor, std::vector<double>& result) {
  dispatch(FloatTypes{}, tensor.dtype(), "number", [&]<class T>() {
    for (const T& value : tensor.span<T>()) result.push_back(double(Arithmetic<T>(value)));
  });
}

void write(Tensor& tensor, std::span<const double> values) {
  dispatch(FloatTypes{}, tensor.dtype(), "number", [&]<class T>() {
    T* place = tensor.data<T>();
    for (const double value : values) *place++ = T(Arithmetic<T>(value));
  });
}

}  // namespace

DifferentiableCase::DifferentiableCase(const OperatorRegistry& registry,
                                       const OperatorCase& op_case,
                                       const std::vector<Value>& inputs, const Interrupt& interrupt)
    : runner_(registry, op_case.node, copies(inputs), Mode::training, Guard::on),
      line_(op_case.line),
      interrupt_(interrupt) {
  forward();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    std::vector<double>& start = starts_.emplace_back();
    moves_.push_back(runner_.grad_input(i).defined());
    if (!moves_[i]) continue;
    append_elements(inputs[i].tensor(), start);
    const DType dtype = inputs[i].tensor().dtype();
    if (size_of(dtype) >= size_of(widest_)) widest_ = dtype;
  }
  const auto schema = onnx::schema_of(op_case.node);
  const auto is_real = [&](std::size_t i) {
    // An output that is rounded more than the inputs shows no slope.
    const Value& output = runner_.output(i);
    return output.is_tensor() && is_real_type(output.tensor().dtype()) &&
           size_of(output.tensor().dtype()) >= size_of(widest_);
  };
  const auto is_differentiable = [&](std::size_t i) {
    const auto* output = schema ? onnx::parameter(schema->outputs, i) : nullptr;
    return is_real(i) && !(output && output->non_differentiable);
  };
  bool any = false;
  for (std::size_t i = 0; i < runner_.output_count(); ++i) any = any || is_differentiable(i);
  for (std::size_t i = 0; i < runner_.output_count(); ++i) {
    // If ONNX declares all outputs non-differentiable, as for STFT, the operator decides.
    if (any ? is_differentiable(i) : is_real(i)) {
      const Tensor& y = runner_.output(i).tensor();
      directions_.push_back(Tensor::zeros(y.dtype(), y.shape()));
      elements_ += std::size_t(y.elements());
    } else {
      directions_.emplace_back();
    }
  }
}

std::vector<double> DifferentiableCase::put(std::size_t i, std::span<const double> values) {
  Tensor& x = runner_.input(i).tensor();
  write(x, values);
  std::vector<double> result;
  append_elements(x, result);
  return result;
}

void DifferentiableCase::put_back() {
  for (std::size_t i = 0; i < starts_.size(); ++i) {
    if (has_gradient(i)) write(runner_.input(i).tensor(), starts_[i]);
  }
}

std::vector<double> DifferentiableCase::values() {
  forward();
  std::vector<double> result;
  for (std::size_t i = 0; i < directions_.size(); ++i) {
    if (directions_[i].defined())
      append_elements(std::as_const(runner_.output(i)).tensor(), result);
  }
  return result;
}

std::vector<double> DifferentiableCase::gradient(std::size_t i, std::span<const double> v) {
  for (Tensor& direction : directions_) {
    if (!direction.defined()) continue;
    const auto count = std::size_t(direction.elements());
    write(direction, v.first(count));
    v = v.subspan(count);
  }
  forward();
  interrupt_.check(line_);
  runner_.backward(directions_);
  std::vector<double> result;
  append_elements(runner_.grad_input(i), result);
  return result;
}

std::string DifferentiableCase::obstacle() const {
  std::string outputs;
  for (std::size_t i = 0; i < directions_.size(); ++i) {
    if (directions_[i].defined()) return {};
    if (!runner_.output(i).is_tensor()) continue;
    outputs += fmt::format("{}output {} is {}", outputs.empty() ? "" : ", ", i,
                           name_of(runner_.output(i).tensor().dtype()));
  }
  return fmt::format("gradients are checked in {}, and none of its outputs is that: {}",
                     name_of(widest_), outputs);
}

void DifferentiableCase::forward() {
  interrupt_.check(line_);
  runner_.forward();
}

}  // namespace d5::detail
