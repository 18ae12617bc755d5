// SPDX-License-Identifier: Apache-2.0
// Functions of two elements with broadcasting, and Sum, Mean, Min and Max of any number.
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
#include <ATen/ops/maximum.h>
#include <ATen/ops/minimum.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/neg.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/sum.h>

#include "d5/onnx/nodes.hpp"
#include "torch_kernel.hpp"

namespace d5::torch {
namespace {

namespace nodes = onnx::nodes;

/// Sums a gradient in the shape of a result over what was broadcast from one operand.
class Summed {
 public:
  Summed(const Shape& operand, const Shape& result) : kept_(result.rank() - operand.rank(), 1) {
    const std::size_t extra = kept_.size();
    kept_.insert(kept_.end(), operand.begin(), operand.end());
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      if (i < extra || (kept_[i] == 1 && result[i] != 1)) dims_.push_back(std::int64_t(i));
    }
  }
  [[nodiscard]] bool trivial() const { return dims_.empty(); }
  void write(at::Tensor& dx, const at::Tensor& full) const {
    if (trivial()) {
      dx.copy_(full);
    } else {
      at::Tensor sums = dx.view(kept_);
      at::sum_out(sums, full, dims_, /*keepdim=*/true);
    }
  }

 private:
  Sizes kept_;  ///< the operand's sizes, 1 where it lacks a dimension
  Sizes dims_;
};

std::vector<Summed> sums_of(const PlanContext& context) {
  std::vector<Summed> sums;
  for (std::size_t i = 0; context.wants_backward() && i < context.input_count(); ++i) {
    sums.emplace_back(context.shape(i), context.output(0).shape);
  }
  return sums;
}

at::Tensor add2(const at::Tensor& a, const at::Tensor& b) { return at::add(a, b); }
at::Tensor& write_add(at::Tensor& y, const at::Tensor& a, const at::Tensor& b) {
  return at::add_out(y, a, b);
}
at::Tensor sub2(const at::Tensor& a, const at::Tensor& b) { return at::sub(a, b); }
at::Tensor& write_sub(at::Tensor& y, const at::Tensor& a, const at::Tensor& b) {
  return at::sub_out(y, a, b);
}

/// Integers are divided toward zero, as ONNX says.
std::optional<c10::string_view> rounding(const at::Tensor& a) {
  if (at::isFloatingType(a.scalar_type()) || at::isComplexType(a.scalar_type())) return {};
  return "trunc";
}
at::Tensor div2(const at::Tensor& a, const at::Tensor& b) { return at::div(a, b, rounding(a)); }
at::Tensor& write_div(at::Tensor& y, const at::Tensor& a, const at::Tensor& b) {
  return at::div_out(y, a, b, rounding(a));
}

/// The result has the base's type, whatever the exponent's. Torch itself would let a scalar have no
/// say in the type that is computed in, and raise integers in float.
at::Tensor power(const at::Tensor& a, const at::Tensor& b) {
  const at::ScalarType base = a.scalar_type(), exponent = b.scalar_type();
  const bool exact = at::isIntegralType(base, false) && at::isFloatingType(exponent);
  const at::ScalarType type = exact ? at::kDouble : at::promote_types(base, exponent);
  return at::pow(a.to(type), b.to(type)).to(base);
}

enum class Gradient { autograd, sum, difference, product };

struct Function {
  at::Tensor (*call)(const at::Tensor& a, const at::Tensor& b);
  at::Tensor& (*write)(at::Tensor& y, const at::Tensor& a, const at::Tensor& b) = nullptr;
  Gradient gradient = Gradient::autograd;
};

class Binary final : public TorchKernel {
 public:
  Binary(const PlanContext& context, Function function)
      : TorchKernel(context), function_(function), sums_(sums_of(context)) {}

  void call(Inputs inputs, Results results, const Random&) const override {
    results[0] = function_.call(inputs[0], inputs[1]);
  }
  KernelTraits traits() const override {
    if (!is_linear()) return TorchKernel::traits();
    return {.backward_reads_inputs = {}, .backward_reads_outputs = {}, .in_place_output = 0};
  }

 protected:
  void run(OpContext& context) override {
    if (!function_.write) return TorchKernel::run(context);
    function_.write(out(context, 0), in(context, 0), in(context, 1));
  }

  void differentiate(GradContext& context) override {
    if (function_.gradient == Gradient::autograd) return TorchKernel::differentiate(context);
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
  Function function_;
  std::vector<Summed> sums_;
};

/// y = f(f(x0, x1), ...), divided by their number for Mean.
class Fold final : public TorchKernel {
 public:
  Fold(const PlanContext& context, Function function, bool mean)
      : TorchKernel(context),
        function_(function),
        count_(context.input_count()),
        mean_(mean),
        in_result_(count_ == 1 ||
                   broadcast(context.shape(0), context.shape(1)) == context.output(0).shape),
        sums_(sums_of(context)) {}

  void call(Inputs inputs, Results results, const Random&) const override {
    // A single input is copied: an output that is an input would not be differentiable by itself.
    at::Tensor y = count_ == 1 ? inputs[0].clone() : function_.call(inputs[0], inputs[1]);
    for (std::size_t i = 2; i < count_; ++i) y = function_.call(y, inputs[i]);
    results[0] = mean_ ? at::div(y, double(count_)) : y;
  }
  KernelTraits traits() const override {
    if (function_.gradient != Gradient::sum) return TorchKernel::traits();
    return {.backward_reads_inputs = {}, .backward_reads_outputs = {}};
  }

 protected:
  void run(OpContext& context) override {
    if (!in_result_) return TorchKernel::run(context);
    at::Tensor& y = out(context, 0);
    if (count_ == 1) {
      y.copy_(in(context, 0));
    } else {
      function_.write(y, in(context, 0), in(context, 1));
    }
    for (std::size_t i = 2; i < count_; ++i) function_.write(y, y, in(context, i));
    if (mean_) y.div_(double(count_));
  }

  void differentiate(GradContext& context) override {
    if (function_.gradient != Gradient::sum) return TorchKernel::differentiate(context);
    for (std::size_t i = 0; i < count_; ++i) {
      if (!context.wants_grad(i)) continue;
      sums_[i].write(grad_in(context, i), grad_out(context, 0));
      if (mean_) grad_in(context, i).div_(double(count_));
    }
  }

 private:
  Function function_;
  std::size_t count_;
  bool mean_;
  bool in_result_;  ///< the first two fill the result's shape: the rest is added there
  std::vector<Summed> sums_;
};

/// Before opset 7, operands were broadcast by the attributes `broadcast` and `axis`.
Support broadcasts_by_shape(const onnx::Node& node) {
  if (node.opset >= 7) return {};
  return {node.op_type + " with the broadcast attribute (opset < 7)"};
}
Support computes_by_shape(const PlanContext& context) {
  const Support shape = broadcasts_by_shape(context.node());
  return shape ? computes(context) : shape;
}
/// For those few functions that torch has for all integers.
Support stores_by_shape(const PlanContext& context) {
  const Support shape = broadcasts_by_shape(context.node());
  return shape ? stores(context) : shape;
}
/// Torch promotes types before it computes; unsigned bases alone it cannot raise.
Support raises(const PlanContext& context) {
  const Support shape = broadcasts_by_shape(context.node());
  if (!shape) return shape;
  return context.has_input(0) && is_floating_point(context.dtype(0)) ? stores(context)
                                                                     : computes(context);
}

/// Rows of the tables.
template <class View>
void add_binary(OperatorRegistry& registry, Function function,
                Support (*check)(const PlanContext&) = computes_by_shape) {
  add<Binary, View>(registry, check, function);
}
template <class View>
void add_fold(OperatorRegistry& registry, Function function, bool mean = false) {
  add<Fold, View>(registry, computes, function, mean);
}

/// One function for both: its second overloads take a Scalar.
#define D5_TORCH_BINARY(function)                                                  \
  [](const at::Tensor& a, const at::Tensor& b) { return at::function(a, b); },     \
      [](at::Tensor& y, const at::Tensor& a, const at::Tensor& b) -> at::Tensor& { \
        return at::function##_out(y, a, b);                                        \
      }

}  // namespace

void register_arithmetic(OperatorRegistry& registry) {
  add_binary<nodes::Add>(registry, {add2, write_add, Gradient::sum});
  add_binary<nodes::Sub>(registry, {sub2, write_sub, Gradient::difference});
  add_binary<nodes::Mul>(registry, {D5_TORCH_BINARY(mul), Gradient::product}, stores_by_shape);
  add_binary<nodes::Div>(registry, {div2, write_div});
  add_binary<nodes::Pow>(registry, {power}, raises);
  add_binary<nodes::Equal>(registry, {D5_TORCH_BINARY(eq)}, stores_by_shape);
  add_binary<nodes::Less>(registry, {D5_TORCH_BINARY(lt)});
  add_binary<nodes::LessOrEqual>(registry, {D5_TORCH_BINARY(le)});
  add_binary<nodes::Greater>(registry, {D5_TORCH_BINARY(gt)});
  add_binary<nodes::GreaterOrEqual>(registry, {D5_TORCH_BINARY(ge)});
  add_binary<nodes::And>(registry, {D5_TORCH_BINARY(logical_and)});
  add_binary<nodes::Or>(registry, {D5_TORCH_BINARY(logical_or)});
  add_binary<nodes::Xor>(registry, {D5_TORCH_BINARY(logical_xor)});
  add_binary<nodes::BitwiseAnd>(registry, {D5_TORCH_BINARY(bitwise_and)}, stores_by_shape);
  add_binary<nodes::BitwiseOr>(registry, {D5_TORCH_BINARY(bitwise_or)}, stores_by_shape);
  add_binary<nodes::BitwiseXor>(registry, {D5_TORCH_BINARY(bitwise_xor)}, stores_by_shape);

  add_fold<nodes::Sum>(registry, {add2, write_add, Gradient::sum});
  add_fold<nodes::Mean>(registry, {add2, write_add, Gradient::sum}, /*mean=*/true);
  add_fold<nodes::Max>(registry, {D5_TORCH_BINARY(maximum)});
  add_fold<nodes::Min>(registry, {D5_TORCH_BINARY(minimum)});
}

}  // namespace d5::torch
