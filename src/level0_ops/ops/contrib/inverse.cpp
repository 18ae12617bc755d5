// SPDX-License-Identifier: Apache-2.0
// com.microsoft's Inverse: the inverse of each of a stack of square matrices.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/matrix/square_matrices.hpp"

namespace d5::ops {
namespace {

/// Gauss-Jordan elimination with partial pivoting. `memory` has n x 2n elements, for (A | I), which
/// becomes (I | inverse of A). All is NaN if A is singular.
template <class T>
void invert(const T* a, T* inverse, std::int64_t n, double* memory) {
  const auto row = [&](std::int64_t i) { return memory + i * 2 * n; };
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) row(i)[j] = double(Arithmetic<T>(a[i * n + j]));
    std::fill_n(row(i) + n, n, 0.0);
    row(i)[n + i] = 1;
  }
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t pivot = k;
    for (std::int64_t i = k + 1; i < n; ++i) {
      if (std::abs(row(i)[k]) > std::abs(row(pivot)[k])) pivot = i;
    }
    if (pivot != k) std::swap_ranges(row(k), row(k) + 2 * n, row(pivot));
    if (row(k)[k] == 0) {
      std::fill_n(inverse, n * n, T(std::numeric_limits<float>::quiet_NaN()));
      return;
    }
    const double scale = 1 / row(k)[k];
    for (std::int64_t j = k; j < 2 * n; ++j) row(k)[j] *= scale;
    for (std::int64_t i = 0; i < n; ++i) {
      const double factor = row(i)[k];
      if (i == k || factor == 0) continue;
      for (std::int64_t j = k; j < 2 * n; ++j) row(i)[j] -= factor * row(k)[j];
    }
  }
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) inverse[i * n + j] = T(Arithmetic<T>(row(i)[n + j]));
  }
}

template <class T>
class InverseKernel final : public Kernel {
 public:
  InverseKernel(std::int64_t matrices, std::int64_t n) : matrices_(matrices), n_(n) {}

  void forward(OpContext& context) override {
    const T* x = context.input(0).data<T>();
    T* y = context.output(0).data<T>();
    for (std::int64_t i = 0; i < matrices_; ++i) {
      invert(x + i * n_ * n_, y + i * n_ * n_, n_, context.scratch_as<double>());
    }
  }

  /// dX = -Y^T dY Y^T
  void backward(GradContext& context) override {
    if constexpr (std::is_floating_point_v<T>) {
      double* left = context.scratch_as<double>();  // Y^T dY
      for (std::int64_t i = 0; i < matrices_; ++i) {
        const T* y = context.output(0).data<T>() + i * n_ * n_;
        const T* dy = context.grad_output(0).data<T>() + i * n_ * n_;
        T* dx = context.grad_input(0).data<T>() + i * n_ * n_;
        for_each([&](std::int64_t r, std::int64_t c) {
          left[r * n_ + c] =
              sum([&](std::int64_t k) { return double(y[k * n_ + r]) * double(dy[k * n_ + c]); });
        });
        for_each([&](std::int64_t r, std::int64_t c) {
          dx[r * n_ + c] =
              T(-sum([&](std::int64_t k) { return left[r * n_ + k] * double(y[c * n_ + k]); }));
        });
      }
    } else {
      Kernel::backward(context);
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {}, .backward_reads_outputs = {0}};
  }

 private:
  template <class F>
  void for_each(F&& f) const {
    for (std::int64_t r = 0; r < n_; ++r) {
      for (std::int64_t c = 0; c < n_; ++c) f(r, c);
    }
  }
  template <class F>
  double sum(F&& f) const {
    double result = 0;
    for (std::int64_t k = 0; k < n_; ++k) result += f(k);
    return result;
  }

  std::int64_t matrices_, n_;
};

/// Shapes: X and Y are ... x M x M.
class Inverse final : public Operator {
 public:
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    (void)detail::square_matrices(context);
    return {context.input(0)};
  }

  Places gradients() const override { return {0}; }

  /// n eliminations of n rows of 2n elements, with a product and a sum per nonzero element.
  Cost cost(const InferContext& context) const override {
    const Shape& x = context.shape(0);
    return with_flop(context, 2.0 * double(x.elements()) * double(x[x.rank() - 1]));
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const Shape& x = context.shape(0);
    const std::int64_t matrices = x.elements(0, x.rank() - 2), n = x[x.rank() - 1];
    if (matrices > 0)
      context.request_scratch(std::size_t(Shape{2, n, n}.elements()) * sizeof(double));
    return kernel_for(FloatTypes{}, RealTypes{}, context.dtype(0), context,
                      [&]<class T>() { return std::make_unique<InverseKernel<T>>(matrices, n); });
  }
};

}  // namespace

void register_inverse(OperatorRegistry& registry) {
  registry.add<Inverse, onnx::nodes::microsoft::Inverse>();
}

}  // namespace d5::ops
