// SPDX-License-Identifier: Apache-2.0
// Normalizer: divides each row by its largest element, or by its L1 or L2 norm.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <memory>
#include <string>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/learned_tables/feature_rows.hpp"
#include "level0_ops/kernels/parallel_each.hpp"

namespace d5::ops {
namespace {

using NormalizerView = onnx::nodes::ml::Normalizer;

/// `max` is the largest element, not the largest magnitude.
enum class Norm { max, l1, l2 };

template <class T>
class NormalizerKernel final : public Kernel {
 public:
  NormalizerKernel(const detail::FeatureRows& x, Norm norm) : x_(x), norm_(norm) {}

  /// A row with divisor zero stays unchanged.
  void forward(OpContext& context) override {
    const T* x = context.input(0).data<T>();
    float* y = context.output(0).data<float>();
    for_each_row([&](std::int64_t start) {
      const double norm = divisor(x + start);
      for (std::int64_t i = start; i < start + x_.features; ++i) {
        y[i] = float(norm == 0 ? double(x[i]) : double(x[i]) / norm);
      }
    });
  }

  /// With d the divisor: dx = dy / d - (dy . x) / d^2 times the slopes of d.
  void backward(GradContext& context) override {
    if constexpr (std::floating_point<T>) {
      const T* x = context.input(0).data<T>();
      const float* dy = context.grad_output(0).data<float>();
      T* dx = context.grad_input(0).data<T>();
      for_each_row([&](std::int64_t start) {
        const double norm = divisor(x + start);
        const std::int64_t largest = std::max_element(x + start, x + start + x_.features) - x;
        double product = 0;
        for (std::int64_t i = start; i < start + x_.features; ++i) {
          product += double(dy[i]) * double(x[i]);
        }
        for (std::int64_t i = start; i < start + x_.features; ++i) {
          const double slope = norm_ == Norm::max  ? double(i == largest)
                               : norm_ == Norm::l2 ? double(x[i]) / norm
                                                   : double((x[i] > 0) - (x[i] < 0));
          dx[i] =
              T(norm == 0 ? double(dy[i]) : double(dy[i]) / norm - product / (norm * norm) * slope);
        }
      });
    } else {
      Kernel::backward(context);
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {0}, .backward_reads_outputs = {}};
  }

 private:
  [[nodiscard]] double divisor(const T* row) const {
    if (norm_ == Norm::max) return double(*std::max_element(row, row + x_.features));
    double sum = 0;
    for (std::int64_t i = 0; i < x_.features; ++i) {
      const double value = double(row[i]);
      sum += norm_ == Norm::l1 ? std::fabs(value) : value * value;
    }
    return norm_ == Norm::l1 ? sum : std::sqrt(sum);
  }

  /// Calls `f(index of the row's first element)` for each row.
  template <class F>
  void for_each_row(const F& f) const {
    if (x_.features == 0) return;
    detail::parallel_for_each(x_.rows, x_.features, 16384,
                              [&](std::int64_t r) { f(r * x_.features); });
  }

  detail::FeatureRows x_;
  Norm norm_;
};

/// Shapes: y as x, N x C, or one row; float32.
class Normalizer final : public Operator {
 public:
  explicit Normalizer(const NormalizerView& view) {
    const std::string word = view.norm();
    norm_ = word == "L1" ? Norm::l1 : word == "L2" ? Norm::l2 : Norm::max;
    if (norm_ == Norm::max && word != "MAX") {
      throw ValueError(fmt::format("{}: norm is {}, expected MAX, L1 or L2",
                                   onnx::describe(view.node()), printable(word)));
    }
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    (void)detail::feature_rows(context);
    return {TensorDesc{DType::float32, context.shape(0)}};
  }

  Places gradients() const override { return {0}; }

  /// A comparison or a sum (possibly of squares), and a quotient.
  Cost cost(const InferContext& context) const override {
    return with_flop(context, (norm_ == Norm::l2 ? 3 : 2) * double(context.shape(0).elements()));
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return kernel_for(
        detail::FeatureTypes{}, RealTypes{}, context.dtype(0), context, [&]<class T>() {
          return std::make_unique<NormalizerKernel<T>>(detail::feature_rows(context), norm_);
        });
  }

 private:
  Norm norm_;
};

}  // namespace

void register_normalizer(OperatorRegistry& registry) { registry.add<Normalizer, NormalizerView>(); }

}  // namespace d5::ops
