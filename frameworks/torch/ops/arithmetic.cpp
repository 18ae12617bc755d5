// SPDX-License-Identifier: Apache-2.0
// Functions of two elements with broadcasting.
#include <ATen/ops/add.h>
#include <ATen/ops/bitwise_and.h>
#include <ATen/ops/bitwise_or.h>
#include <ATen/ops/bitwise_xor.h>
#include <ATen/ops/div.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/ge.h>
#include <ATen/ops/gt.h>
#include <ATen/ops/le.h>
#include <ATen/ops/logical_and.h>
#include <ATen/ops/logical_or.h>
#include <ATen/ops/logical_xor.h>
#include <ATen/ops/lt.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/neg.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/where.h>

#include "d5/onnx/nodes.hpp"
#include "torch_binary.hpp"

namespace d5::torch {
namespace {

namespace nodes = onnx::nodes;

using Gradient = BinaryFunction::Gradient;
using Unsigned = BinaryFunction::Unsigned;

at::Tensor add2(const at::Tensor& a, const at::Tensor& b) { return at::add(a, b); }
at::Tensor& write_add(at::Tensor& y, const at::Tensor& a, const at::Tensor& b) {
  return at::add_out(y, a, b);
}
at::Tensor sub2(const at::Tensor& a, const at::Tensor& b) { return at::sub(a, b); }
at::Tensor& write_sub(at::Tensor& y, const at::Tensor& a, const at::Tensor& b) {
  return at::sub_out(y, a, b);
}

/// Integers are divided toward zero, as in ONNX. The processor cannot divide the minimum by -1.
at::Tensor div2(const at::Tensor& a, const at::Tensor& b) {
  if (!at::isIntegralType(a.scalar_type(), false)) return at::div(a, b);
  if (!at::isSignedType(a.scalar_type())) return at::div(a, b, "trunc");
  const at::Tensor negates = b == -1;
  return at::where(negates, at::neg(a), at::div(a, b.masked_fill(negates, 1), "trunc"));
}
at::Tensor& write_div(at::Tensor& y, const at::Tensor& a, const at::Tensor& b) {
  if (at::isIntegralType(a.scalar_type(), false)) return y.copy_(div2(a, b));
  return at::div_out(y, a, b);
}

/// The result has the base's type, whatever the exponent's type. Torch itself would ignore a scalar
/// in choosing the computation type, and raise integers in float.
at::Tensor power(const at::Tensor& a, const at::Tensor& b) {
  const at::ScalarType base = a.scalar_type(), exponent = b.scalar_type();
  const bool exact = at::isIntegralType(base, false) && at::isFloatingType(exponent);
  const at::ScalarType type = exact ? at::kDouble : at::promote_types(base, exponent);
  return at::pow(a.to(type), b.to(type)).to(base);
}

/// The sizes of the second operand for broadcasting. Before opset 7, the attribute `axis` may give
/// the dimension of the first operand at which its own dimensions begin.
std::optional<Sizes> moved_operand(const PlanContext& context) {
  const auto* axis = context.node().attribute<std::int64_t>("axis");
  if (context.node().opset >= 7 || !axis || context.shape(0) == context.shape(1)) return {};
  Sizes sizes = sizes_of(context.shape(1)).vec();
  sizes.resize(context.shape(0).rank() - std::size_t(front(*axis, context)), 1);
  return sizes;
}

class Binary final : public TorchKernel {
 public:
  Binary(const PlanContext& context, BinaryFunction function)
      : TorchKernel(context),
        function_(function),
        moved_(moved_operand(context)),
        direct_(!moved_ && function.takes(scalar_type(context.dtype(0)))),
        sums_(sums_of(context)) {}

  void call(Inputs inputs, Results results, const Random&) const override {
    results[0] = function_(inputs[0], moved_ ? inputs[1].reshape(*moved_) : inputs[1]);
  }
  KernelTraits traits() const override {
    if (!direct_ || !is_linear()) return TorchKernel::traits();
    return {.backward_reads_inputs = {}, .backward_reads_outputs = {}, .in_place_output = 0};
  }

 protected:
  void run(OpContext& context) override {
    if (!direct_ || !function_.write) return TorchKernel::run(context);
    function_.write(out(context, 0), in(context, 0), in(context, 1));
  }

  void differentiate(GradContext& context) override {
    if (!direct_ || function_.gradient == Gradient::autograd) {
      return TorchKernel::differentiate(context);
    }
    at::Tensor& dy = grad_out(context, 0);
    for (std::size_t i = 0; i < 2; ++i) {
      if (!context.wants_grad(i)) continue;
      at::Tensor& dx = grad_in(context, i);
      if (is_linear()) {
        sums_[i].write(dx, dy);
        if (i == 1 && function_.gradient == Gradient::difference) at::neg_out(dx, dx);
      } else if (sums_[i].trivial()) {
        at::mul_out(dx, dy, in(context, 1 - i));
      } else {
        sums_[i].write(dx, at::mul(dy, in(context, 1 - i)));
      }
    }
  }

 private:
  bool is_linear() const {
    return function_.gradient == Gradient::sum || function_.gradient == Gradient::difference;
  }
  BinaryFunction function_;
  std::optional<Sizes> moved_;
  bool direct_;  // both operands as they are
  std::vector<Summed> sums_;
};

Support narrow(const PlanContext& context) {
  if (context.dtype(0) != DType::uint64) return stores(context);
  return {context.node().op_type + " on uint64"};
}
/// Torch promotes types before it computes, and cannot raise unsigned bases alone.
Support raises(const PlanContext& context) {
  return is_floating_point(context.dtype(0)) ? stores(context) : computes(context);
}

/// A row of the table.
template <class View>
void add_binary(OperatorRegistry& registry, BinaryFunction function,
                Support (*check)(const PlanContext&) = stores) {
  add<Binary, View>(registry, check, function);
}

}  // namespace

void register_arithmetic(OperatorRegistry& registry) {
  add_binary<nodes::Add>(registry, {add2, write_add, Gradient::sum, Unsigned::bits});
  add_binary<nodes::Sub>(registry, {sub2, write_sub, Gradient::difference, Unsigned::bits});
  add_binary<nodes::Mul>(registry, {D5_TORCH_BINARY(mul), Gradient::product});
  add_binary<nodes::Div>(registry, {div2, write_div, Gradient::autograd, Unsigned::narrow}, narrow);
  add_binary<nodes::Pow>(registry, {power}, raises);
  add_binary<nodes::Equal>(registry, {D5_TORCH_BINARY(eq)});
  add_binary<nodes::Less>(registry, {D5_TORCH_BINARY(lt), {}, Unsigned::order});
  add_binary<nodes::LessOrEqual>(registry, {D5_TORCH_BINARY(le), {}, Unsigned::order});
  add_binary<nodes::Greater>(registry, {D5_TORCH_BINARY(gt), {}, Unsigned::order});
  add_binary<nodes::GreaterOrEqual>(registry, {D5_TORCH_BINARY(ge), {}, Unsigned::order});
  add_binary<nodes::And>(registry, {D5_TORCH_BINARY(logical_and)});
  add_binary<nodes::Or>(registry, {D5_TORCH_BINARY(logical_or)});
  add_binary<nodes::Xor>(registry, {D5_TORCH_BINARY(logical_xor)});
  add_binary<nodes::BitwiseAnd>(registry, {D5_TORCH_BINARY(bitwise_and)});
  add_binary<nodes::BitwiseOr>(registry, {D5_TORCH_BINARY(bitwise_or)});
  add_binary<nodes::BitwiseXor>(registry, {D5_TORCH_BINARY(bitwise_xor)});
}

}  // namespace d5::torch
