// SPDX-License-Identifier: Apache-2.0
// Products of matrices.
#include "d5/core/errors/error.hpp"
#include "d5/onnx/nodes.hpp"
#include "translators.hpp"

namespace d5::tensorflow {
namespace {

namespace nodes = onnx::nodes;

/// A vector on the left is a row, on the right a column; leading dimensions are broadcast.
Terms matmul(const PlanContext& context, Graph& graph, const Terms& inputs) {
  const Shape &a = context.shape(0), &b = context.shape(1);
  if (a.rank() == 2 && b.rank() == 2) return {graph.add("MatMul", {inputs[0], inputs[1]})};
  const Term left = a.rank() == 1 ? graph.reshaped(inputs[0], {1, a[0]}) : inputs[0];
  const Term right = b.rank() == 1 ? graph.reshaped(inputs[1], {b[0], 1}) : inputs[1];
  const Term y = graph.add("BatchMatMulV2", {left, right});
  if (a.rank() > 1 && b.rank() > 1) return {y};
  return {graph.reshaped(y, context.output(0).shape)};
}

/// y = alpha a' b' + beta c
Terms gemm(const PlanContext& context, Graph& graph, const Terms& inputs) {
  const nodes::Gemm view(context.node());
  const auto scaled = [&](Term x, double factor) {
    return factor == 1 ? x : graph.add("Mul", {x, graph.number(factor, x)});
  };
  Term y = graph.add("MatMul", {inputs[0], inputs[1]},
                     {{"transpose_a", view.transA() != 0}, {"transpose_b", view.transB() != 0}});
  y = scaled(y, view.alpha());
  if (!context.has_input(nodes::Gemm::In::C)) return {y};
  const Term c = inputs[nodes::Gemm::In::C];
  const Shape& sizes = context.shape(nodes::Gemm::In::C);
  const bool is_row = sizes.rank() == 1 && sizes[0] == context.output(0).shape[1];
  return {graph.add(is_row ? "BiasAdd" : "AddV2", {y, scaled(c, view.beta())})};
}

Terms einsum(const PlanContext& context, Graph& graph, const Terms& inputs) {
  std::string equation = nodes::Einsum(context.node()).equation();
  std::erase(equation, ' ');
  if (equation.find("->") == std::string::npos) {
    throw Unsupported(context.who() + ": TensorFlow requires the indices of the result (->)");
  }
  return {graph.add("Einsum", {inputs}, {{"equation", equation.c_str()}})};
}

}  // namespace

void register_product(Translators& translators) {
  translators.add<nodes::MatMul>(matmul);
  translators.add<nodes::Gemm>(gemm);
  translators.add("com.microsoft", "FusedGemm", 1, with_activation(gemm));
  translators.add<nodes::Einsum>(einsum);
}

}  // namespace d5::tensorflow
