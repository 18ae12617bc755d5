// SPDX-License-Identifier: Apache-2.0
// General matrix product: Y = alpha A' B' + beta C, a prime meaning "transposed if asked".
#include <fmt/format.h>

#include <algorithm>

#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/matrix_product.hpp"

namespace d5::ops {
namespace {

/// Shapes: A' is M x K, B' is K x N, Y is M x N; C is optional and broadcasts to Y.
class Gemm final : public Operator {
 public:
  explicit Gemm(const onnx::nodes::Gemm& view)
      : alpha_(view.alpha()),
        beta_(view.beta()),
        transposed_a_(view.transA() != 0),
        transposed_b_(view.transB() != 0) {}
  explicit Gemm(const onnx::Node& node) : Gemm(onnx::nodes::Gemm(node)) {}

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const Sizes s = sizes(context);
    return {TensorDesc{context.dtype(0), {s.m, s.n}}};
  }

  void plan(PlanContext& context) override {
    s_ = sizes(context);
    if (context.has_input(2)) {
      // C as a matrix: a missing leading dimension is 1.
      const Shape& c = context.shape(2);
      c_rows_ = c.rank() == 2 ? c[0] : 1;
      c_columns_ = c.rank() >= 1 ? c[c.rank() - 1] : 1;
    }
  }

  void forward(OpContext& context) override {
    dispatch(RealTypes{}, context.input(0).dtype(), context.who(), [&]<class T>() {
      T* y = context.output(0).data<T>();
      const bool add = context.has_input(2);
      if (add) {
        const T* c = context.input(2).data<T>();
        for (std::int64_t i = 0; i < s_.m; ++i) {
          const T* row = c + (c_rows_ == 1 ? 0 : i * c_columns_);
          for (std::int64_t j = 0; j < s_.n; ++j) {
            y[i * s_.n + j] = T(beta_) * row[c_columns_ == 1 ? 0 : j];
          }
        }
      }
      matrix_product<T>(left(context.input(0).data<T>()), right(context.input(1).data<T>()),
                        {y, s_.m, s_.n, s_.n}, T(alpha_), add ? T(1) : T(0));
    });
  }

  void backward(GradContext& context) override {
    dispatch(RealTypes{}, context.grad_output(0).dtype(), context.who(), [&]<class T>() {
      const T* dy = context.grad_output(0).data<T>();
      const MatrixView<const T> gradient{dy, s_.m, s_.n, s_.n};
      if (context.wants_grad(0)) {
        // dA' = alpha dY B'^T
        const auto b = transpose(right(context.input(1).data<T>()));
        product_into(transposed_a_, gradient, b, context.grad_input(0).data<T>());
      }
      if (context.wants_grad(1)) {
        // dB' = alpha A'^T dY
        const auto a = transpose(left(context.input(0).data<T>()));
        product_into(transposed_b_, a, gradient, context.grad_input(1).data<T>());
      }
      if (context.wants_grad(2)) {
        T* dc = context.grad_input(2).data<T>();
        std::fill_n(dc, c_rows_ * c_columns_, T(0));
        for (std::int64_t i = 0; i < s_.m; ++i) {
          T* row = dc + (c_rows_ == 1 ? 0 : i * c_columns_);
          for (std::int64_t j = 0; j < s_.n; ++j) {
            row[c_columns_ == 1 ? 0 : j] += T(beta_) * dy[i * s_.n + j];
          }
        }
      }
    });
  }

  bool differentiable(std::size_t) const override { return true; }
  bool backward_needs_input(std::size_t input) const override { return input != 2; }
  bool backward_needs_output(std::size_t) const override { return false; }

  Cost cost(const InferContext& context) const override {
    const Sizes s = sizes(context);
    Cost cost = Operator::cost(context);
    cost.flop = double(s.m) * double(s.n) * (2.0 * double(s.k) + (context.has_input(2) ? 1 : 0));
    return cost;
  }

 private:
  struct Sizes {
    std::int64_t m = 0, n = 0, k = 0;
  };

  Sizes sizes(const InferContext& context) const {
    const Shape &a = context.shape(0), &b = context.shape(1);
    if (a.rank() != 2 || b.rank() != 2) {
      throw ShapeError(fmt::format("{}: A is {} and B is {}, expected two matrices", context.who(),
                                   to_string(a), to_string(b)));
    }
    if (context.dtype(0) != context.dtype(1)) {
      throw TypeError(fmt::format("{}: A is {} but B is {}", context.who(),
                                  name_of(context.dtype(0)), name_of(context.dtype(1))));
    }
    const Sizes s{a[transposed_a_ ? 1 : 0], b[transposed_b_ ? 0 : 1], a[transposed_a_ ? 0 : 1]};
    if (b[transposed_b_ ? 1 : 0] != s.k) {
      throw ShapeError(fmt::format("{}: A is {}{} but B is {}{}; the inner sizes must agree",
                                   context.who(), to_string(a), transposed_a_ ? " transposed" : "",
                                   to_string(b), transposed_b_ ? " transposed" : ""));
    }
    if (context.has_input(2)) {
      const Shape& c = context.shape(2);
      const Shape y{s.m, s.n};
      bool fits = c.rank() <= 2;
      for (std::size_t i = 0; fits && i < c.rank(); ++i) {
        fits = c[i] == 1 || c[i] == y[2 - c.rank() + i];
      }
      if (!fits) {
        throw ShapeError(fmt::format("{}: C is {}, which does not broadcast to {}", context.who(),
                                     to_string(c), to_string(y)));
      }
    }
    return s;
  }

  template <class T>
  MatrixView<const T> left(const T* a) const {
    return {a, s_.m, s_.k, transposed_a_ ? s_.m : s_.k, transposed_a_};
  }
  template <class T>
  MatrixView<const T> right(const T* b) const {
    return {b, s_.k, s_.n, transposed_b_ ? s_.k : s_.n, transposed_b_};
  }
  template <class T>
  static MatrixView<const T> transpose(const MatrixView<const T>& m) {
    return {m.data, m.columns, m.rows, m.stride, !m.transposed};
  }
  /// `to` = alpha a b, or its transpose.
  template <class T>
  void product_into(bool transposed, const MatrixView<const T>& a, const MatrixView<const T>& b,
                    T* to) const {
    if (transposed) {
      matrix_product<T>(transpose(b), transpose(a), {to, b.columns, a.rows, a.rows}, T(alpha_));
    } else {
      matrix_product<T>(a, b, {to, a.rows, b.columns, b.columns}, T(alpha_));
    }
  }

  float alpha_, beta_;
  bool transposed_a_, transposed_b_;
  Sizes s_;
  std::int64_t c_rows_ = 1, c_columns_ = 1;
};

}  // namespace

void register_gemm(OperatorRegistry& registry) { registry.add<Gemm>("Gemm"); }

}  // namespace d5::ops
