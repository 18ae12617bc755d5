// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "d5/level0_ops/operator/plan_context.hpp"
#include "level0_ops/kernels/matrix/quantization.hpp"

// Sums of products of quantized numbers. They are integers below 2^53, so matrix products in double
// are exact.
namespace d5::detail {

/// The elements of an input minus their zero point.
class CentredInput {
 public:
  /// `zero_shape` is broadcast to the input's; input `zero` may be omitted.
  CentredInput(const PlanContext& context, std::size_t value, std::size_t zero,
               const Shape& zero_shape);
  /// The number of elements of `read`'s memory.
  [[nodiscard]] std::int64_t length() const { return elements_ + zeros_; }
  [[nodiscard]] const double* read(const OpContext& context, double* memory) const;

 private:
  std::size_t value_, zero_;
  std::int64_t elements_, zeros_ = 0;
  Centering centering_;
  std::optional<Conversion> read_zeros_;
};

/// Converts sums of products to a quantized output: sum * a_scale * b_scale / y_scale in units of
/// y.
class Requantization {
 public:
  /// `a` and `b` are the input indices of their scales, which are broadcast to the output.
  Requantization(const PlanContext& context, std::size_t a, const Shape& a_scale, std::size_t b,
                 const Shape& b_scale, std::size_t y_scale, std::size_t y_zero);
  [[nodiscard]] std::int64_t memory_length() const { return a_.count + b_.count; }
  /// `sums` are overwritten.
  void run(OpContext& context, double* sums, double* memory) const;

 private:
  struct Scales {
    std::size_t place;
    std::int64_t count;
  };
  Scales a_, b_;
  std::size_t y_scale_, y_zero_;
  StridedLoop loop_;  // output, scales of a, scales of b
  Conversion read_scales_, read_zero_;
  Quantizer quantizer_;
};

/// `Product` has `scratch_length()` and `run(context, a, b, sums, scratch)`.
template <class Product>
class IntegerProductKernel final : public Kernel {
 public:
  /// Without a requantization the output is the sums as int32, which may wrap around.
  IntegerProductKernel(PlanContext& context, CentredInput a, CentredInput b, Product product,
                       std::optional<Requantization> requantization = {})
      : a_(std::move(a)),
        b_(std::move(b)),
        product_(std::move(product)),
        requantization_(std::move(requantization)),
        sums_(context.output(0).elements()) {
    const std::int64_t rest =
        std::max(product_.scratch_length(), requantization_ ? requantization_->memory_length() : 0);
    context.request_scratch(sizeof(double) * std::size_t(a_.length() + b_.length() + sums_ + rest));
  }

  void forward(OpContext& context) override {
    double* memory = context.scratch_as<double>();
    const double* a = a_.read(context, memory);
    const double* b = b_.read(context, memory += a_.length());
    double* sums = memory += b_.length();
    memory += sums_;
    product_.run(context, a, b, sums, memory);
    if (requantization_) {
      requantization_->run(context, sums, memory);
    } else {
      write_sums_.run(context.output(0).raw(), sums, sums_);
    }
  }

 private:
  CentredInput a_, b_;
  Product product_;
  std::optional<Requantization> requantization_;
  std::int64_t sums_;
  Conversion write_sums_{DType::float64, DType::int32};
};

}  // namespace d5::detail
