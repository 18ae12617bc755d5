// SPDX-License-Identifier: Apache-2.0
// Gemm: Y = alpha A' B' + beta C; the prime denotes an optional transpose.
#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <cstdint>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/matrix/matrix_product.hpp"
#include "level0_ops/kernels/parallel_each.hpp"
#include "level0_ops/operator/conversion.hpp"
#include "level0_ops/operator/wide_kernel.hpp"

namespace d5::ops {
namespace {

using detail::matrix_product;
using detail::MatrixView;

using WideIntegers = Types<std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>;

struct GemmProblem {
  float alpha, beta;
  bool transposed_a, transposed_b;
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t c_rows = 1, c_columns = 1;  ///< C as a matrix: a missing leading dimension is 1

  template <class T>
  [[nodiscard]] MatrixView<const T> left(const T* a) const {
    return {a, m, k, transposed_a ? m : k, transposed_a};
  }
  template <class T>
  [[nodiscard]] MatrixView<const T> right(const T* b) const {
    return {b, k, n, transposed_b ? k : n, transposed_b};
  }
  /// Calls `f(i, place)` for each element of Y and the element of C that is added to it.
  template <class F>
  void for_each_of_c(F&& f) const {
    for (std::int64_t i = 0; i < m; ++i) {
      const std::int64_t row = c_rows == 1 ? 0 : i * c_columns;
      for (std::int64_t j = 0; j < n; ++j) f(i * n + j, row + (c_columns == 1 ? 0 : j));
    }
  }
};

template <class T>
class GemmKernel final : public Kernel {
 public:
  explicit GemmKernel(const GemmProblem& problem) : p_(problem) {}

  void forward(OpContext& context) override {
    T* y = context.output(0).data<T>();
    const bool add = context.has_input(2);
    if (add) {
      const T* c = context.input(2).data<T>();
      p_.for_each_of_c([&](std::int64_t i, std::int64_t place) { y[i] = T(p_.beta) * c[place]; });
    }
    matrix_product<T>(p_.left(context.input(0).data<T>()), p_.right(context.input(1).data<T>()),
                      {y, p_.m, p_.n, p_.n}, T(p_.alpha), add ? T(1) : T(0));
  }

  void backward(GradContext& context) override {
    const T* dy = context.grad_output(0).data<T>();
    const MatrixView<const T> gradient{dy, p_.m, p_.n, p_.n};
    if (context.wants_grad(0)) {
      // dA' = alpha dY B'^T
      const auto b = transpose(p_.right(context.input(1).data<T>()));
      product_into(p_.transposed_a, gradient, b, context.grad_input(0).data<T>());
    }
    if (context.wants_grad(1)) {
      // dB' = alpha A'^T dY
      const auto a = transpose(p_.left(context.input(0).data<T>()));
      product_into(p_.transposed_b, a, gradient, context.grad_input(1).data<T>());
    }
    if (context.wants_grad(2)) {
      T* dc = context.grad_input(2).data<T>();
      std::fill_n(dc, p_.c_rows * p_.c_columns, T(0));
      p_.for_each_of_c(
          [&](std::int64_t i, std::int64_t place) { dc[place] += T(p_.beta) * dy[i]; });
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {0, 1}, .backward_reads_outputs = {}};
  }

 private:
  static MatrixView<const T> transpose(const MatrixView<const T>& m) {
    return {m.data, m.columns, m.rows, m.stride, !m.transposed};
  }
  /// `to` = alpha a b, or its transpose.
  void product_into(bool transposed, const MatrixView<const T>& a, const MatrixView<const T>& b,
                    T* to) const {
    if (transposed) {
      matrix_product<T>(transpose(b), transpose(a), {to, b.columns, a.rows, a.rows}, T(p_.alpha));
    } else {
      matrix_product<T>(a, b, {to, a.rows, b.columns, b.columns}, T(p_.alpha));
    }
  }

  GemmProblem p_;
};

/// Integers wrap around. If a factor is not 1, the scaled terms are doubles, and the sum is
/// truncated towards zero.
template <std::integral T>
class IntegerGemmKernel final : public Kernel {
 public:
  IntegerGemmKernel(const GemmProblem& problem, PlanContext& context)
      : p_(problem), to_integers_(DType::float64, dtype_of<T>) {
    if (!exact()) context.request_scratch(std::size_t(p_.m * p_.n) * sizeof(double));
  }

  void forward(OpContext& context) override {
    const auto a = p_.left(context.input(0).data<T>());
    const auto b = p_.right(context.input(1).data<T>());
    T* y = context.output(0).data<T>();
    detail::parallel_for_each(p_.m, p_.n * p_.k, 65536, [&](std::int64_t i) {
      for (std::int64_t j = 0; j < p_.n; ++j) {
        std::uint64_t sum = 0;
        for (std::int64_t k = 0; k < p_.k; ++k) {
          sum += std::uint64_t(a.at(i, k)) * std::uint64_t(b.at(k, j));
        }
        y[i * p_.n + j] = T(sum);
      }
    });
    const T* c = context.has_input(2) ? context.input(2).data<T>() : nullptr;
    if (exact()) {
      if (!c) return;
      p_.for_each_of_c([&](std::int64_t i, std::int64_t place) {
        y[i] = T(std::uint64_t(y[i]) + std::uint64_t(c[place]));
      });
      return;
    }
    double* scaled = context.scratch_as<double>();
    p_.for_each_of_c([&](std::int64_t i, std::int64_t place) {
      scaled[i] = double(p_.alpha) * double(y[i]) + (c ? double(p_.beta) * double(c[place]) : 0);
    });
    to_integers_.run(y, scaled, p_.m * p_.n);
  }

 private:
  bool exact() const { return p_.alpha == 1 && p_.beta == 1; }

  GemmProblem p_;
  detail::Conversion to_integers_;
};

/// Shapes: A' is M x K, B' is K x N, Y is M x N; C is optional and broadcasts to Y.
class Gemm final : public Operator {
 public:
  explicit Gemm(const onnx::nodes::Gemm& view)
      : attributes_{.alpha = view.alpha(),
                    .beta = view.beta(),
                    .transposed_a = view.transA() != 0,
                    .transposed_b = view.transB() != 0} {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const GemmProblem p = problem(context);
    return {TensorDesc{context.dtype(0), {p.m, p.n}}};
  }

  Places gradients() const override { return {0, 1, 2}; }

  Cost cost(const InferContext& context) const override {
    const GemmProblem p = problem(context);
    return with_flop(
        context, double(p.m) * double(p.n) * (2.0 * double(p.k) + (context.has_input(2) ? 1 : 0)));
  }

  std::optional<Cost> gradient_cost(const InferContext& context, Places wanted) const override {
    return bilinear_gradient_cost(context, wanted);
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    if (is_integer(context.dtype(0))) {
      return kernel_for(WideIntegers{}, context.dtype(0), context, [&]<class T>() {
        return std::make_unique<IntegerGemmKernel<T>>(problem(context), context);
      });
    }
    return detail::wide_kernel_for(context, [&]<class T>(PlanContext& wide) {
      return std::make_unique<GemmKernel<T>>(problem(wide));
    });
  }

 private:
  GemmProblem problem(const InferContext& context) const {
    const Shape &a = context.shape(0), &b = context.shape(1);
    if (a.rank() != 2 || b.rank() != 2) {
      throw ShapeError(fmt::format("{}: A is {} and B is {}, expected two matrices", context.who(),
                                   to_string(a), to_string(b)));
    }
    GemmProblem p = attributes_;
    p.m = a[p.transposed_a ? 1 : 0];
    p.n = b[p.transposed_b ? 0 : 1];
    p.k = a[p.transposed_a ? 0 : 1];
    if (b[p.transposed_b ? 1 : 0] != p.k) {
      throw ShapeError(fmt::format("{}: A is {}{} but B is {}{}; the inner sizes must agree",
                                   context.who(), to_string(a), p.transposed_a ? " transposed" : "",
                                   to_string(b), p.transposed_b ? " transposed" : ""));
    }
    if (context.has_input(2)) {
      const Shape& c = context.shape(2);
      if (c.rank() == 2) p.c_rows = c[0];
      if (c.rank() >= 1) p.c_columns = c[c.rank() - 1];
      if (c.rank() > 2 || (p.c_rows != 1 && p.c_rows != p.m) ||
          (p.c_columns != 1 && p.c_columns != p.n)) {
        throw ShapeError(fmt::format("{}: C is {}, which does not broadcast to {}x{}",
                                     context.who(), to_string(c), p.m, p.n));
      }
    }
    return p;
  }

  GemmProblem attributes_;  // without sizes
};

}  // namespace

void register_gemm(OperatorRegistry& registry) { registry.add<Gemm, onnx::nodes::Gemm>(); }

}  // namespace d5::ops
