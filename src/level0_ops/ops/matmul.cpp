// SPDX-License-Identifier: Apache-2.0
// Matrix product over stacks of matrices, as NumPy's matmul.
#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <type_traits>
#include <utility>
#include <vector>

#include "d5/core/error.hpp"
#include "d5/level0_ops/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/matrix_product.hpp"
#include "level0_ops/kernels/parallel_each.hpp"

namespace d5::ops {
namespace {

using detail::matrix_product;
using detail::MatrixView;

using MatMulTypes =
    Join<FloatTypes, Types<std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>>;

/// In what products add up: unsigned integers wrap around instead of overflowing.
template <class T>
struct Accumulator {
  using type = Arithmetic<T>;
};
template <std::integral T>
struct Accumulator<T> {
  using type = std::make_unsigned_t<T>;
};

/// Where an operand's matrices lie, for each matrix of Y.
struct Stack {
  struct Dim {
    std::int64_t size, stride;  ///< of Y's stack; in elements, 0 where the operand is broadcast
  };
  std::vector<Dim> dims;

  [[nodiscard]] std::int64_t offset(std::int64_t i) const {
    std::int64_t result = 0;
    for (std::size_t d = dims.size(); d-- > 0; i /= dims[d].size) {
      result += i % dims[d].size * dims[d].stride;
    }
    return result;
  }
};

struct MatMulProblem {
  std::int64_t m = 1, n = 1, k = 1, matrices = 1;
  Stack a, b;
  Shape y;
};

template <class T>
class MatMulKernel final : public Kernel {
 public:
  explicit MatMulKernel(MatMulProblem problem) : p_(std::move(problem)) {}

  void forward(OpContext& context) override {
    const T* a = context.input(0).data<T>();
    const T* b = context.input(1).data<T>();
    T* y = context.output(0).data<T>();
    detail::parallel_for_each(p_.matrices, p_.m * p_.n * p_.k, 65536, [&](std::int64_t i) {
      multiply(a + p_.a.offset(i), b + p_.b.offset(i), y + i * p_.m * p_.n);
    });
  }

  void backward(GradContext& context) override {
    if constexpr (std::is_floating_point_v<T>) {
      const T* dy = context.grad_output(0).data<T>();
      const auto gradient = [&](std::int64_t i) {
        return MatrixView<const T>{dy + i * p_.m * p_.n, p_.m, p_.n, p_.n};
      };
      // Matrices that were broadcast add up, in order.
      if (context.wants_grad(0)) {
        T* da = context.grad_input(0).data<T>();
        std::fill_n(da, context.grad_input(0).elements(), T(0));
        const T* b = context.input(1).data<T>();
        for (std::int64_t i = 0; i < p_.matrices; ++i) {
          matrix_product<T>(gradient(i), {b + p_.b.offset(i), p_.n, p_.k, p_.n, true},
                            {da + p_.a.offset(i), p_.m, p_.k, p_.k}, T(1), T(1));
        }
      }
      if (context.wants_grad(1)) {
        T* db = context.grad_input(1).data<T>();
        std::fill_n(db, context.grad_input(1).elements(), T(0));
        const T* a = context.input(0).data<T>();
        for (std::int64_t i = 0; i < p_.matrices; ++i) {
          matrix_product<T>({a + p_.a.offset(i), p_.k, p_.m, p_.k, true}, gradient(i),
                            {db + p_.b.offset(i), p_.k, p_.n, p_.n}, T(1), T(1));
        }
      }
    } else {
      Kernel::backward(context);
    }
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {0, 1}, .backward_reads_outputs = {}};
  }

 private:
  void multiply(const T* a, const T* b, T* y) const {
    if constexpr (std::is_floating_point_v<T>) {
      matrix_product<T>({a, p_.m, p_.k, p_.k}, {b, p_.k, p_.n, p_.n}, {y, p_.m, p_.n, p_.n});
    } else {
      using Sum = typename Accumulator<T>::type;
      for (std::int64_t i = 0; i < p_.m; ++i) {
        for (std::int64_t j = 0; j < p_.n; ++j) {
          Sum sum = 0;
          for (std::int64_t k = 0; k < p_.k; ++k) {
            sum += Sum(a[i * p_.k + k]) * Sum(b[k * p_.n + j]);
          }
          y[i * p_.n + j] = T(sum);
        }
      }
    }
  }

  MatMulProblem p_;
};

/// Shapes: A is ... x M x K, B is ... x K x N; the dots broadcast. A vector is a row at the left, a
/// column at the right, and its dimension is missing from Y.
class MatMul final : public Operator {
 public:
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    return {TensorDesc{context.dtype(0), problem(context).y}};
  }

  Places gradients() const override { return {0, 1}; }

  Cost cost(const InferContext& context) const override {
    const MatMulProblem p = problem(context);
    return with_flop(context, 2.0 * double(p.matrices) * double(p.m) * double(p.n) * double(p.k));
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return kernel_for(MatMulTypes{}, RealTypes{}, context.dtype(0), context, [&]<class T>() {
      return std::make_unique<MatMulKernel<T>>(problem(context));
    });
  }

 private:
  static MatMulProblem problem(const InferContext& context) {
    const Shape &a = context.shape(0), &b = context.shape(1);
    if (a.rank() == 0 || b.rank() == 0) {
      throw ShapeError(fmt::format("{}: A is {} and B is {}, expected vectors or matrices",
                                   context.who(), to_string(a), to_string(b)));
    }
    MatMulProblem p;
    if (a.rank() > 1) p.m = a[a.rank() - 2];
    p.k = a[a.rank() - 1];
    if (b.rank() > 1) p.n = b[b.rank() - 1];
    if (b[b.rank() - std::min<std::size_t>(2, b.rank())] != p.k) {
      throw ShapeError(fmt::format("{}: A is {} but B is {}; the inner sizes must agree",
                                   context.who(), to_string(a), to_string(b)));
    }
    const Shape stack_a(a.dims().first(a.rank() - std::min<std::size_t>(2, a.rank())));
    const Shape stack_b(b.dims().first(b.rank() - std::min<std::size_t>(2, b.rank())));
    const Shape stack = broadcast(stack_a, stack_b);
    p.y = stack;
    if (a.rank() > 1) p.y.push_back(p.m);
    if (b.rank() > 1) p.y.push_back(p.n);
    if (stack_b.elements() == 1 && stack_a == stack && a.rank() > 1) {
      // One matrix at the right: all rows at the left are one tall matrix.
      p.m *= stack.elements();
    } else {
      p.matrices = p.y.elements() == 0 ? 0 : stack.elements();
      p.a = stack_of(stack_a, stack, p.m * p.k);
      p.b = stack_of(stack_b, stack, p.k * p.n);
    }
    return p;
  }

  static Stack stack_of(const Shape& own, const Shape& stack, std::int64_t size) {
    Stack result;
    std::int64_t stride = size;
    for (std::size_t d = stack.rank(); d-- > 0;) {
      const std::size_t missing = stack.rank() - own.rank();
      const std::int64_t own_size = d < missing ? 1 : own[d - missing];
      result.dims.insert(result.dims.begin(), {stack[d], own_size == 1 ? 0 : stride});
      stride *= own_size;
    }
    return result;
  }
};

}  // namespace

void register_matmul(OperatorRegistry& registry) { registry.add<MatMul, onnx::nodes::MatMul>(); }

}  // namespace d5::ops
