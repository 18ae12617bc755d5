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

#include "torch_operator.hpp"

namespace d5::torch {
namespace {

/// Writes `full`, a gradient in the shape of the result, summed over what was broadcast, to `dx`.
void write_summed(at::Tensor& dx, const at::Tensor& full) {
  std::vector<std::int64_t> dims;
  const std::int64_t extra = full.dim() - dx.dim();
  for (std::int64_t i = 0; i < full.dim(); ++i) {
    if (i < extra || (dx.size(i - extra) == 1 && full.size(i) != 1)) dims.push_back(i);
  }
  if (dims.empty()) {
    if (full.data_ptr() != dx.data_ptr()) dx.copy_(full);
    return;
  }
  dx.copy_(at::sum(full, dims, /*keepdim=*/true).view(dx.sizes()));
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

/// The result has the base's type, whatever the exponent's.
at::Tensor power(const at::Tensor& a, const at::Tensor& b) {
  return at::pow(a, b).to(a.scalar_type());
}

enum class Gradient { none, autograd, sum, difference };

struct Function {
  at::Tensor (*call)(const at::Tensor& a, const at::Tensor& b);
  at::Tensor& (*write)(at::Tensor& y, const at::Tensor& a, const at::Tensor& b) = nullptr;
  Gradient gradient = Gradient::none;
};

class Binary final : public TorchOperator {
 public:
  Binary(const onnx::Node& node, Function function) : TorchOperator(node), function_(function) {}

  Results call(Inputs inputs, const Call&) const override {
    return {function_.call(inputs[0], inputs[1])};
  }
  bool backward_needs_input(std::size_t) const override {
    return function_.gradient == Gradient::autograd;
  }
  int in_place_output() const override { return is_linear() ? 0 : -1; }

 protected:
  void run(OpContext& context) override {
    if (!function_.write) return TorchOperator::run(context);
    function_.write(out(context, 0), in(context, 0), in(context, 1));
  }

  void differentiate(GradContext& context) override {
    if (!is_linear()) return TorchOperator::differentiate(context);
    at::Tensor& dy = grad_out(context, 0);
    if (context.wants_grad(0)) write_summed(grad_in(context, 0), dy);
    if (context.wants_grad(1)) {
      at::Tensor& db = grad_in(context, 1);
      write_summed(db, dy);
      if (function_.gradient == Gradient::difference) at::neg_out(db, db);
    }
  }

 private:
  bool is_linear() const {
    return function_.gradient == Gradient::sum || function_.gradient == Gradient::difference;
  }
  Function function_;
};

/// y = f(f(x0, x1), ...), divided by their number for Mean.
class Fold final : public TorchOperator {
 public:
  Fold(const onnx::Node& node, Function function, bool mean)
      : TorchOperator(node), function_(function), mean_(mean) {}

  Results call(Inputs inputs, const Call&) const override {
    // A single input is copied: an output that is an input would not be differentiable by itself.
    at::Tensor y = inputs.size() == 1 ? inputs[0].clone() : function_.call(inputs[0], inputs[1]);
    for (std::size_t i = 2; i < inputs.size(); ++i) y = function_.call(y, inputs[i]);
    return {mean_ ? at::div(y, double(inputs.size())) : y};
  }
  bool backward_needs_input(std::size_t) const override {
    return function_.gradient != Gradient::sum;
  }

 protected:
  void run(OpContext& context) override {
    if (!function_.write) return TorchOperator::run(context);
    at::Tensor& y = out(context, 0);
    if (context.input_count() == 1) {
      y.copy_(in(context, 0));
    } else if (context.input_count() == 2) {
      function_.write(y, in(context, 0), in(context, 1));
    } else {
      return TorchOperator::run(context);
    }
    if (mean_) y.div_(double(context.input_count()));
  }

  void differentiate(GradContext& context) override {
    if (function_.gradient != Gradient::sum) return TorchOperator::differentiate(context);
    for (std::size_t i = 0; i < context.input_count(); ++i) {
      if (!context.wants_grad(i)) continue;
      write_summed(grad_in(context, i), grad_out(context, 0));
      if (mean_) grad_in(context, i).div_(double(context.input_count()));
    }
  }

 private:
  Function function_;
  bool mean_;
};

/// Before opset 7, operands were broadcast by the attributes `broadcast` and `axis`.
Support broadcasts_by_shape(const onnx::Node& node) {
  return {node.opset >= 7 ? "" : node.op_type + " with the broadcast attribute (opset < 7)"};
}

/// One function for both: its second overloads take a Scalar.
#define D5_TORCH_BINARY(function)                                               \
  {[](const at::Tensor& a, const at::Tensor& b) { return at::function(a, b); }, \
   [](at::Tensor& y, const at::Tensor& a, const at::Tensor& b) -> at::Tensor& { \
     return at::function##_out(y, a, b);                                        \
   }}

}  // namespace

void register_arithmetic(OperatorRegistry& registry) {
  const auto binary = [&](const char* name, Function f) {
    add<Binary>(registry, name, broadcasts_by_shape, f);
  };
  binary("Add", {add2, write_add, Gradient::sum});
  binary("Sub", {sub2, write_sub, Gradient::difference});
  Function mul = D5_TORCH_BINARY(mul);
  mul.gradient = Gradient::autograd;
  binary("Mul", mul);
  binary("Div", {div2, write_div, Gradient::autograd});
  binary("Pow", {power, nullptr, Gradient::autograd});
  binary("Equal", D5_TORCH_BINARY(eq));
  binary("Less", D5_TORCH_BINARY(lt));
  binary("LessOrEqual", D5_TORCH_BINARY(le));
  binary("Greater", D5_TORCH_BINARY(gt));
  binary("GreaterOrEqual", D5_TORCH_BINARY(ge));
  binary("And", D5_TORCH_BINARY(logical_and));
  binary("Or", D5_TORCH_BINARY(logical_or));
  binary("Xor", D5_TORCH_BINARY(logical_xor));
  binary("BitwiseAnd", D5_TORCH_BINARY(bitwise_and));
  binary("BitwiseOr", D5_TORCH_BINARY(bitwise_or));
  binary("BitwiseXor", D5_TORCH_BINARY(bitwise_xor));

  const auto fold = [&](const char* name, Function f, bool mean) {
    add<Fold>(registry, name, {}, f, mean);
  };
  fold("Sum", {add2, write_add, Gradient::sum}, false);
  fold("Mean", {add2, write_add, Gradient::sum}, true);
  Function extremum = D5_TORCH_BINARY(maximum);
  extremum.gradient = Gradient::autograd;
  fold("Max", extremum, false);
  extremum = D5_TORCH_BINARY(minimum);
  extremum.gradient = Gradient::autograd;
  fold("Min", extremum, false);
}

}  // namespace d5::torch
