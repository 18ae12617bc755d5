// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/matrix/integer_product.hpp"

#include "level0_ops/kernels/strided_loop.hpp"

namespace d5::detail {

CentredInput::CentredInput(const PlanContext& context, std::size_t value, std::size_t zero,
                           const Shape& zero_shape)
    : value_(value),
      zero_(zero),
      elements_(context.shape(value).elements()),
      centering_(context.dtype(value), ScaleLayout(context.shape(value), zero_shape)) {
  if (!context.has_input(zero)) return;
  zeros_ = context.shape(zero).elements();
  read_zeros_.emplace(context.dtype(zero), DType::float64);
}

const double* CentredInput::read(const OpContext& context, double* memory) const {
  double* zeros = read_zeros_ ? memory + elements_ : nullptr;
  if (zeros) read_zeros_->run(zeros, context.input(zero_).raw(), zeros_);
  centering_.run(memory, context.input(value_).raw(), zeros);
  return memory;
}

Requantization::Requantization(const PlanContext& context, std::size_t a, const Shape& a_scale,
                               std::size_t b, const Shape& b_scale, std::size_t y_scale,
                               std::size_t y_zero)
    : a_{a, a_scale.elements()},
      b_{b, b_scale.elements()},
      y_scale_(y_scale),
      y_zero_(y_zero),
      loop_(broadcast_loop(context.output(0).shape, {&a_scale, &b_scale})),
      read_scales_(context.dtype(y_scale), DType::float64),
      read_zero_(context.output(0).dtype, DType::float64),
      quantizer_(context.output(0).dtype) {}

void Requantization::run(OpContext& context, double* sums, double* memory) const {
  double *a = memory, *b = memory + a_.count;
  double y_scale = 0, y_zero = 0;
  read_scales_.run(a, context.input(a_.place).raw(), a_.count);
  read_scales_.run(b, context.input(b_.place).raw(), b_.count);
  read_scales_.run(&y_scale, context.input(y_scale_).raw(), 1);
  read_zero_.run(&y_zero, context.input(y_zero_).raw(), 1);
  void* y = context.output(0).raw();
  const std::int64_t step_a = loop_.step(1), step_b = loop_.step(2);
  loop_.run([&](const StridedLoop::Offsets& at, std::int64_t count) {
    double* values = sums + at[0];
    for (std::int64_t i = 0; i < count; ++i) {
      // In float, like the scales, so that ties are the same.
      const float product = float(a[at[1] + i * step_a]) * float(b[at[2] + i * step_b]);
      values[i] *= double(product / float(y_scale));
    }
    quantizer_.row(y, at[0], values, &y_zero, 0, count);
  });
}

}  // namespace d5::detail
