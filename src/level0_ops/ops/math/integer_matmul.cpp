// SPDX-License-Identifier: Apache-2.0
// MatMulInteger and QLinearMatMul: products of stacks of quantized matrices.
#include <fmt/format.h>

#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "d5/onnx/schema.hpp"
#include "level0_ops/kernels/matrix/integer_product.hpp"
#include "level0_ops/kernels/matrix/matmul_problem.hpp"
#include "level0_ops/kernels/matrix/matrix_product.hpp"
#include "level0_ops/kernels/parallel_each.hpp"

namespace d5::ops {
namespace {

namespace nodes = onnx::nodes;

/// The product of an integer kernel.
class MatMulProduct {
 public:
  explicit MatMulProduct(detail::MatMulProblem problem) : p_(std::move(problem)) {}

  static std::int64_t scratch_length() { return 0; }
  void run(const OpContext&, const double* a, const double* b, double* y, double*) const {
    detail::parallel_for_each(p_.matrices, p_.m * p_.n * p_.k, 65536, [&](std::int64_t i) {
      detail::matrix_product<double>({a + p_.a.offset(i), p_.m, p_.k, p_.k},
                                     {b + p_.b.offset(i), p_.k, p_.n, p_.n},
                                     {y + i * p_.m * p_.n, p_.m, p_.n, p_.n});
    });
  }

 private:
  detail::MatMulProblem p_;
};

/// The dimension of a matrix for scales and zero points.
enum class Along { rows, columns };

/// The shape of input `parameter`, broadcastable to input `matrix`: a scalar; a list with one
/// number per row or column; or as the matrix, with 1 in the other dimension. Throws: ShapeError.
Shape along(Along which, const InferContext& context, std::size_t parameter, std::size_t matrix) {
  if (!context.has_input(parameter)) return {};
  const Shape &given = context.shape(parameter), &m = context.shape(matrix);
  if (detail::is_one_number(given)) return {};
  const std::size_t rank = m.rank();
  if (rank >= 2) {
    Shape list{m[rank - 2], 1};
    if (which == Along::columns) list = Shape{m[rank - 1]};
    if (given.rank() == 1 && given.elements() == list.elements()) return list;
    const std::size_t other = which == Along::rows ? rank - 1 : rank - 2;
    bool fits = given.rank() == rank;
    for (std::size_t d = 0; fits && d < rank; ++d) {
      fits = given[d] == 1 || (d != other && given[d] == m[d]);
    }
    if (fits) return given;
  }
  throw ShapeError(fmt::format("{}: {} is {}, expected one number or one for each {} of {}",
                               context.who(), onnx::describe_input(context.node(), parameter),
                               to_string(given), which == Along::rows ? "row" : "column",
                               to_string(m)));
}

/// Converts `shape`, broadcastable to an operand, to be broadcastable to Y, which lacks the
/// dimension `place` from the back if the other operand is a vector.
Shape without(const Shape& shape, std::size_t place, const Shape& other_operand) {
  if (other_operand.rank() > 1 || shape.rank() < place) return shape;
  Shape result;
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    if (d + place != shape.rank()) result.push_back(shape[d]);
  }
  return result;
}

/// Shapes: as MatMul; zero points are one number or one per row of A and column of B.
class MatMulInteger final : public Operator {
  using In = nodes::MatMulInteger::In;

 public:
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    (void)along(Along::rows, context, In::a_zero_point, In::A);
    (void)along(Along::columns, context, In::b_zero_point, In::B);
    return {TensorDesc{DType::int32, problem(context).y}};
  }
  Cost cost(const InferContext& context) const override {
    return with_flop(context, problem(context).flop());
  }
  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    return std::make_unique<detail::IntegerProductKernel<MatMulProduct>>(
        context,
        detail::CentredInput(context, In::A, In::a_zero_point,
                             along(Along::rows, context, In::a_zero_point, In::A)),
        detail::CentredInput(context, In::B, In::b_zero_point,
                             along(Along::columns, context, In::b_zero_point, In::B)),
        MatMulProduct(problem(context)));
  }

 private:
  static detail::MatMulProblem problem(const InferContext& context) {
    return detail::matmul_problem(context.shape(In::A), context.shape(In::B), context.who());
  }
};

/// Shapes: as MatMul; scales and zero points of a are one number or one per row, those of b one or
/// one per column, those of y one.
class QLinearMatMul final : public Operator {
  using In = nodes::QLinearMatMul::In;

 public:
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    for (const std::size_t i : {In::a_scale, In::a_zero_point}) {
      (void)along(Along::rows, context, i, In::a);
    }
    for (const std::size_t i : {In::b_scale, In::b_zero_point}) {
      (void)along(Along::columns, context, i, In::b);
    }
    for (const std::size_t i : {In::y_scale, In::y_zero_point}) {
      if (detail::is_one_number(context.shape(i))) continue;
      throw ShapeError(fmt::format("{}: {} is {}, expected one number", context.who(),
                                   onnx::describe_input(context.node(), i),
                                   to_string(context.shape(i))));
    }
    return {TensorDesc{context.dtype(In::y_zero_point), problem(context).y}};
  }
  /// In addition to the matrix product, a product and a sum per element.
  Cost cost(const InferContext& context) const override {
    const detail::MatMulProblem p = problem(context);
    return with_flop(context, p.flop() + 2 * double(p.y.elements()));
  }
  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const Shape a_scale =
        without(along(Along::rows, context, In::a_scale, In::a), 1, context.shape(In::b));
    const Shape b_scale =
        without(along(Along::columns, context, In::b_scale, In::b), 2, context.shape(In::a));
    return std::make_unique<detail::IntegerProductKernel<MatMulProduct>>(
        context,
        detail::CentredInput(context, In::a, In::a_zero_point,
                             along(Along::rows, context, In::a_zero_point, In::a)),
        detail::CentredInput(context, In::b, In::b_zero_point,
                             along(Along::columns, context, In::b_zero_point, In::b)),
        MatMulProduct(problem(context)),
        detail::Requantization(context, In::a_scale, a_scale, In::b_scale, b_scale, In::y_scale,
                               In::y_zero_point));
  }

 private:
  static detail::MatMulProblem problem(const InferContext& context) {
    return detail::matmul_problem(context.shape(In::a), context.shape(In::b), context.who());
  }
};

}  // namespace

void register_integer_matmul(OperatorRegistry& registry) {
  registry.add<MatMulInteger, nodes::MatMulInteger>();
  registry.add<QLinearMatMul, nodes::QLinearMatMul>();
}

}  // namespace d5::ops
