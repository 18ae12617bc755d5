// SPDX-License-Identifier: Apache-2.0
// Functions of one element.
#include <ATen/ops/abs.h>
#include <ATen/ops/acos.h>
#include <ATen/ops/acosh.h>
#include <ATen/ops/asin.h>
#include <ATen/ops/asinh.h>
#include <ATen/ops/atan.h>
#include <ATen/ops/atanh.h>
#include <ATen/ops/bitwise_not.h>
#include <ATen/ops/ceil.h>
#include <ATen/ops/clamp_min.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/cosh.h>
#include <ATen/ops/erf.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/floor.h>
#include <ATen/ops/hardswish.h>
#include <ATen/ops/isnan.h>
#include <ATen/ops/log.h>
#include <ATen/ops/logical_not.h>
#include <ATen/ops/mish.h>
#include <ATen/ops/neg.h>
#include <ATen/ops/reciprocal.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/round.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/sigmoid_backward.h>
#include <ATen/ops/sign.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/sinh.h>
#include <ATen/ops/sqrt.h>
#include <ATen/ops/tan.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/tanh_backward.h>
#include <ATen/ops/threshold_backward.h>

#include "computes_floats.hpp"
#include "d5/onnx/nodes.hpp"

namespace d5::torch {
namespace {

namespace nodes = onnx::nodes;

struct Function {
  at::Tensor (*call)(const at::Tensor& x);
  at::Tensor& (*write)(at::Tensor& y, const at::Tensor& x);
  /// dx from dy and y. Null: backward uses autograd.
  at::Tensor& (*gradient)(at::Tensor& dx, const at::Tensor& dy, const at::Tensor& y) = nullptr;
};

class Elementwise final : public TorchKernel {
 public:
  Elementwise(const PlanContext& context, Function function)
      : TorchKernel(context), function_(function) {}

  void call(Inputs inputs, Results results, const Random&) const override {
    results[0] = function_.call(inputs[0]);
  }
  KernelTraits traits() const override {
    if (!function_.gradient) return TorchKernel::traits();
    return {.backward_reads_inputs = {}, .backward_reads_outputs = {0}, .in_place_output = 0};
  }

 protected:
  void run(OpContext& context) override { function_.write(out(context, 0), in(context, 0)); }

  void differentiate(GradContext& context) override {
    if (!function_.gradient) return TorchKernel::differentiate(context);
    function_.gradient(grad_in(context, 0), grad_out(context, 0), out(context, 0));
  }

 private:
  Function function_;
};

/// A row of the table.
template <class View>
void add_function(OperatorRegistry& registry, Function function,
                  Support (*check)(const PlanContext&) = computes) {
  add<Elementwise, View>(registry, check, function);
}

// Torch's relu has no out variant that writes directly; this function computes the same.
at::Tensor& write_relu(at::Tensor& y, const at::Tensor& x) { return at::clamp_min_out(y, x, 0); }
at::Tensor& relu_gradient(at::Tensor& dx, const at::Tensor& dy, const at::Tensor& y) {
  return at::threshold_backward_out(dx, dy, y, 0);
}

}  // namespace

void register_elementwise(OperatorRegistry& registry) {
  add_function<nodes::Relu>(registry, {at::relu, write_relu, relu_gradient});
  add_function<nodes::Sigmoid>(registry, {at::sigmoid, at::sigmoid_out, at::sigmoid_backward_out});
  add_function<nodes::Tanh>(registry, {at::tanh, at::tanh_out, at::tanh_backward_out});
  add_function<nodes::Abs>(registry, {at::abs, at::abs_out});
  add_function<nodes::Acos>(registry, {at::acos, at::acos_out});
  add_function<nodes::Acosh>(registry, {at::acosh, at::acosh_out});
  add_function<nodes::Asin>(registry, {at::asin, at::asin_out});
  add_function<nodes::Asinh>(registry, {at::asinh, at::asinh_out});
  add_function<nodes::Atan>(registry, {at::atan, at::atan_out});
  add_function<nodes::Atanh>(registry, {at::atanh, at::atanh_out});
  add_function<nodes::BitwiseNot>(registry, {at::bitwise_not, at::bitwise_not_out});
  add_function<nodes::Ceil>(registry, {at::ceil, at::ceil_out});
  add_function<nodes::Cos>(registry, {at::cos, at::cos_out});
  add_function<nodes::Cosh>(registry, {at::cosh, at::cosh_out});
  add_function<nodes::Erf>(registry, {at::erf, at::erf_out}, computes_floats);
  add_function<nodes::Exp>(registry, {at::exp, at::exp_out});
  add_function<nodes::Floor>(registry, {at::floor, at::floor_out});
  add_function<nodes::HardSwish>(registry, {at::hardswish, at::hardswish_out});
  add_function<nodes::IsNaN>(registry, {at::isnan, at::isnan_out});
  add_function<nodes::Log>(registry, {at::log, at::log_out});
  add_function<nodes::Mish>(registry, {at::mish, at::mish_out});
  add_function<nodes::Neg>(registry, {at::neg, at::neg_out});
  add_function<nodes::Not>(registry, {at::logical_not, at::logical_not_out});
  add_function<nodes::Reciprocal>(registry, {at::reciprocal, at::reciprocal_out});
  add_function<nodes::Round>(registry,
                             {at::round, at::round_out});  // both: halves to the even neighbour
  add_function<nodes::Sign>(registry, {at::sign, at::sign_out});
  add_function<nodes::Sin>(registry, {at::sin, at::sin_out});
  add_function<nodes::Sinh>(registry, {at::sinh, at::sinh_out});
  add_function<nodes::Sqrt>(registry, {at::sqrt, at::sqrt_out});
  add_function<nodes::Tan>(registry, {at::tan, at::tan_out});
}

}  // namespace d5::torch
