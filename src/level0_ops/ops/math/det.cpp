// SPDX-License-Identifier: Apache-2.0
// Det: determinants of a stack of square matrices.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <numeric>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/matrix/square_matrices.hpp"

namespace d5::ops {
namespace {

/// LU decomposition with full pivoting, P A Q = L U, in given memory.
class PivotedFactors {
 public:
  static std::size_t bytes(std::int64_t n) {
    return std::size_t(n * n + n) * sizeof(double) + std::size_t(2 * n) * sizeof(std::int64_t);
  }
  PivotedFactors(std::byte* memory, std::int64_t n)
      : n_(n),
        lu_(reinterpret_cast<double*>(memory)),
        column_(lu_ + n * n),
        rows_(reinterpret_cast<std::int64_t*>(column_ + n)),
        columns_(rows_ + n) {}

  template <class T>
  void factor(const T* a) {
    for (std::int64_t i = 0; i < n_ * n_; ++i) lu_[i] = double(Arithmetic<T>(a[i]));
    std::iota(rows_, rows_ + n_, std::int64_t(0));
    std::iota(columns_, columns_ + n_, std::int64_t(0));
    sign_ = 1;
    for (std::int64_t k = 0; k < n_; ++k) {
      bring_pivot(k);
      if (at(k, k) == 0) return;  // only zeros remain
      for (std::int64_t i = k + 1; i < n_; ++i) {
        const double factor = at(i, k) /= at(k, k);
        for (std::int64_t j = k + 1; j < n_; ++j) at(i, j) -= factor * at(k, j);
      }
    }
  }

  [[nodiscard]] double determinant() const { return sign_ * pivots(n_); }

  /// `to` = scale times the cofactors of A, also for a singular A.
  ///
  /// Row j holds column j of Q adj(U) inverse(L) P. With U as (V u; 0 d), adj(U) is
  /// det(V) (d inverse(V), -inverse(V) u; 0, 1): only the last pivot may be zero, or all cofactors
  /// are.
  template <std::floating_point T>
  void cofactors(double scale, T* to) {
    const std::int64_t last = n_ - 1;
    const double minor = pivots(last);  // det(V)
    if (minor == 0) {
      std::fill_n(to, n_ * n_, T(0));
      return;
    }
    for (std::int64_t j = 0; j < n_; ++j, to += n_) {
      for (std::int64_t i = 0; i < n_; ++i) {
        double sum = rows_[i] == j ? 1 : 0;
        for (std::int64_t k = 0; k < i; ++k) sum -= at(i, k) * column_[k];
        column_[i] = sum;
      }
      for (std::int64_t i = last; i-- > 0;) {
        double sum = at(last, last) * column_[i] - at(i, last) * column_[last];
        for (std::int64_t k = i + 1; k < last; ++k) sum -= at(i, k) * column_[k];
        column_[i] = sum / at(i, i);
      }
      for (std::int64_t i = 0; i < n_; ++i) {
        to[columns_[i]] = T(scale * sign_ * minor * column_[i]);
      }
    }
  }

 private:
  [[nodiscard]] double& at(std::int64_t i, std::int64_t j) const { return lu_[i * n_ + j]; }
  /// The product of the first pivots.
  [[nodiscard]] double pivots(std::int64_t count) const {
    double product = 1;
    for (std::int64_t k = 0; k < count; ++k) product *= at(k, k);
    return product;
  }
  void bring_pivot(std::int64_t k) {
    std::int64_t row = k, column = k;
    double largest = 0;
    for (std::int64_t i = k; i < n_; ++i) {
      for (std::int64_t j = k; j < n_; ++j) {
        const double size = std::abs(at(i, j));
        if (!(size > largest) && !std::isnan(size)) continue;
        largest = size;
        row = i;
        column = j;
      }
    }
    if (row != k) {
      std::swap_ranges(&at(row, 0), &at(row, 0) + n_, &at(k, 0));
      std::swap(rows_[row], rows_[k]);
      sign_ = -sign_;
    }
    if (column != k) {
      for (std::int64_t i = 0; i < n_; ++i) std::swap(at(i, column), at(i, k));
      std::swap(columns_[column], columns_[k]);
      sign_ = -sign_;
    }
  }

  std::int64_t n_;
  double *lu_, *column_;
  std::int64_t *rows_, *columns_;  // rows and columns of A, in the order of P A Q
  double sign_ = 1;
};

template <class T>
class DetKernel final : public Kernel {
 public:
  DetKernel(std::int64_t matrices, std::int64_t n) : matrices_(matrices), n_(n) {}

  void forward(OpContext& context) override {
    const T* x = context.input(0).data<T>();
    T* y = context.output(0).data<T>();
    PivotedFactors factors(context.scratch().data(), n_);
    for (std::int64_t i = 0; i < matrices_; ++i) {
      factors.factor(x + i * n_ * n_);
      y[i] = T(Arithmetic<T>(factors.determinant()));
    }
  }

  void backward(GradContext& context) override {
    if constexpr (std::floating_point<T>) {
      const T* x = context.input(0).data<T>();
      const T* dy = context.grad_output(0).data<T>();
      T* dx = context.grad_input(0).data<T>();
      if (n_ == 0) return;
      PivotedFactors factors(context.scratch().data(), n_);
      for (std::int64_t i = 0; i < matrices_; ++i) {
        factors.factor(x + i * n_ * n_);
        factors.cofactors(double(dy[i]), dx + i * n_ * n_);
      }
    } else {
      Kernel::backward(context);
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {0}, .backward_reads_outputs = {}};
  }

 private:
  std::int64_t matrices_, n_;
};

/// Shapes: X is ... x M x M, Y has the leading dimensions.
class Det final : public Operator {
 public:
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const Shape& x = detail::square_matrices(context);
    return {TensorDesc{context.dtype(0), Shape(x.dims().first(x.rank() - 2))}};
  }

  Places gradients() const override { return {0}; }

  /// Gaussian elimination.
  Cost cost(const InferContext& context) const override {
    const Shape& x = context.shape(0);
    const auto n = double(x[x.rank() - 1]);
    return with_flop(context, double(x.elements(0, x.rank() - 2)) * 2 * n * n * n / 3);
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const Shape& x = context.shape(0);
    const std::int64_t matrices = context.output(0).elements(), n = x[x.rank() - 1];
    if (matrices > 0) context.request_scratch(PivotedFactors::bytes(n));
    return kernel_for(FloatTypes{}, RealTypes{}, context.dtype(0), context,
                      [&]<class T>() { return std::make_unique<DetKernel<T>>(matrices, n); });
  }
};

}  // namespace

void register_det(OperatorRegistry& registry) { registry.add<Det, onnx::nodes::Det>(); }

}  // namespace d5::ops
