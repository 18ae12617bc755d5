// SPDX-License-Identifier: Apache-2.0
// Matrix product over stacks of matrices, as NumPy's matmul.
#include <algorithm>
#include <concepts>
#include <type_traits>
#include <utility>

#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/matrix/matmul_problem.hpp"
#include "level0_ops/kernels/matrix/matrix_product.hpp"
#include "level0_ops/kernels/parallel_each.hpp"

namespace d5::ops {
namespace {

using detail::matrix_product;
using detail::MatrixView;

using MatMulTypes =
    Join<FloatTypes, Types<std::int32_t, std::int64_t, std::uint32_t, std::uint64_t>>;

/// The type of sums: unsigned integers wrap around instead of overflowing.
template <class T>
struct Accumulator {
  using type = Arithmetic<T>;
};
template <std::integral T>
struct Accumulator<T> {
  using type = std::make_unsigned_t<T>;
};

template <class T>
class MatMulKernel final : public Kernel {
 public:
  explicit MatMulKernel(detail::MatMulProblem problem) : p_(std::move(problem)) {}

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
      // Gradients of broadcast matrices are summed, in order.
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

  detail::MatMulProblem p_;
};

/// Shapes: A is ... x M x K, B is ... x K x N; the dots broadcast. A vector is a row on the left, a
/// column on the right, and its dimension is missing in Y.
class MatMul final : public Operator {
 public:
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    return {TensorDesc{context.dtype(0), problem(context).y}};
  }

  Places gradients() const override { return {0, 1}; }

  Cost cost(const InferContext& context) const override {
    const detail::MatMulProblem p = problem(context);
    return with_flop(context, p.flop());
  }

  std::optional<Cost> gradient_cost(const InferContext& context, Places wanted) const override {
    return bilinear_gradient_cost(context, wanted);
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return kernel_for(MatMulTypes{}, RealTypes{}, context.dtype(0), context, [&]<class T>() {
      return std::make_unique<MatMulKernel<T>>(problem(context));
    });
  }

 private:
  static detail::MatMulProblem problem(const InferContext& context) {
    return detail::matmul_problem(context.shape(0), context.shape(1), context.who());
  }
};

}  // namespace

void register_matmul(OperatorRegistry& registry) { registry.add<MatMul, onnx::nodes::MatMul>(); }

}  // namespace d5::ops
