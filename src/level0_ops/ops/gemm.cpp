// SPDX-License-Identifier: Apache-2.0
// General matrix product: Y = alpha A' B' + beta C, a prime meaning "transposed if asked".
#include <fmt/format.h>

#include <algorithm>

#include "d5/core/error.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/matrix_product.hpp"

namespace d5::ops {
namespace {

using detail::matrix_product;
using detail::MatrixView;

struct GemmProblem {
  float alpha, beta;
  bool transposed_a, transposed_b;
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t c_rows = 1, c_columns = 1;  ///< C as a matrix: a missing leading dimension is 1
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
      for_each_of_c([&](std::int64_t i, std::int64_t place) { y[i] = T(p_.beta) * c[place]; });
    }
    matrix_product<T>(left(context.input(0).data<T>()), right(context.input(1).data<T>()),
                      {y, p_.m, p_.n, p_.n}, T(p_.alpha), add ? T(1) : T(0));
  }

  void backward(GradContext& context) override {
    const T* dy = context.grad_output(0).data<T>();
    const MatrixView<const T> gradient{dy, p_.m, p_.n, p_.n};
    if (context.wants_grad(0)) {
      // dA' = alpha dY B'^T
      const auto b = transpose(right(context.input(1).data<T>()));
      product_into(p_.transposed_a, gradient, b, context.grad_input(0).data<T>());
    }
    if (context.wants_grad(1)) {
      // dB' = alpha A'^T dY
      const auto a = transpose(left(context.input(0).data<T>()));
      product_into(p_.transposed_b, a, gradient, context.grad_input(1).data<T>());
    }
    if (context.wants_grad(2)) {
      T* dc = context.grad_input(2).data<T>();
      std::fill_n(dc, p_.c_rows * p_.c_columns, T(0));
      for_each_of_c([&](std::int64_t i, std::int64_t place) { dc[place] += T(p_.beta) * dy[i]; });
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {0, 1}, .backward_reads_outputs = {}};
  }

 private:
  /// `f(i, place)`: each element of Y, and that of C which is added to it.
  template <class F>
  void for_each_of_c(F&& f) const {
    for (std::int64_t i = 0; i < p_.m; ++i) {
      const std::int64_t row = p_.c_rows == 1 ? 0 : i * p_.c_columns;
      for (std::int64_t j = 0; j < p_.n; ++j) {
        f(i * p_.n + j, row + (p_.c_columns == 1 ? 0 : j));
      }
    }
  }
  MatrixView<const T> left(const T* a) const {
    return {a, p_.m, p_.k, p_.transposed_a ? p_.m : p_.k, p_.transposed_a};
  }
  MatrixView<const T> right(const T* b) const {
    return {b, p_.k, p_.n, p_.transposed_b ? p_.k : p_.n, p_.transposed_b};
  }
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

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return kernel_for(RealTypes{}, context.dtype(0), context,
                      [&]<class T>() { return std::make_unique<GemmKernel<T>>(problem(context)); });
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
