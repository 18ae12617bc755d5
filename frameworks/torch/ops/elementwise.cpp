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
#include <ATen/ops/isnan.h>
#include <ATen/ops/log.h>
#include <ATen/ops/logical_not.h>
#include <ATen/ops/mul.h>
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

#include "torch_operator.hpp"

namespace d5::torch {
namespace {

struct Function {
  at::Tensor (*call)(const at::Tensor& x);
  at::Tensor& (*write)(at::Tensor& y, const at::Tensor& x) = nullptr;
  /// dx from dy and y. Without one, backward goes through autograd.
  at::Tensor& (*gradient)(at::Tensor& dx, const at::Tensor& dy, const at::Tensor& y) = nullptr;
};

class Elementwise final : public TorchOperator {
 public:
  Elementwise(const onnx::Node& node, Function function)
      : TorchOperator(node), function_(function) {}

  Results call(Inputs inputs, const Call&) const override { return {function_.call(inputs[0])}; }

  int in_place_output() const override { return function_.gradient ? 0 : -1; }
  bool backward_needs_input(std::size_t) const override { return function_.gradient == nullptr; }
  bool backward_needs_output(std::size_t) const override { return function_.gradient != nullptr; }

 protected:
  void run(OpContext& context) override { function_.write(out(context, 0), in(context, 0)); }

  void differentiate(GradContext& context) override {
    if (!function_.gradient) return TorchOperator::differentiate(context);
    function_.gradient(grad_in(context, 0), grad_out(context, 0), out(context, 0));
  }

 private:
  Function function_;
};

// Torch's relu has no out variant that writes directly; this is what it computes.
at::Tensor& write_relu(at::Tensor& y, const at::Tensor& x) { return at::clamp_min_out(y, x, 0); }
at::Tensor& relu_gradient(at::Tensor& dx, const at::Tensor& dy, const at::Tensor& y) {
  return at::threshold_backward_out(dx, dy, y, 0);
}

}  // namespace

void register_elementwise(OperatorRegistry& registry) {
  const auto function = [&](const char* name, Function f) {
    add<Elementwise>(registry, name, {}, f);
  };
  function("Relu", {at::relu, write_relu, relu_gradient});
  function("Sigmoid", {at::sigmoid, at::sigmoid_out, at::sigmoid_backward_out});
  function("Tanh", {at::tanh, at::tanh_out, at::tanh_backward_out});
  function("Abs", {at::abs, at::abs_out});
  function("Acos", {at::acos, at::acos_out});
  function("Acosh", {at::acosh, at::acosh_out});
  function("Asin", {at::asin, at::asin_out});
  function("Asinh", {at::asinh, at::asinh_out});
  function("Atan", {at::atan, at::atan_out});
  function("Atanh", {at::atanh, at::atanh_out});
  function("BitwiseNot", {at::bitwise_not, at::bitwise_not_out});
  function("Ceil", {at::ceil, at::ceil_out});
  function("Cos", {at::cos, at::cos_out});
  function("Cosh", {at::cosh, at::cosh_out});
  function("Erf", {at::erf, at::erf_out});
  function("Exp", {at::exp, at::exp_out});
  function("Floor", {at::floor, at::floor_out});
  function("IsNaN", {at::isnan, at::isnan_out});
  function("Log", {at::log, at::log_out});
  function("Neg", {at::neg, at::neg_out});
  function("Not", {at::logical_not, at::logical_not_out});
  function("Reciprocal", {at::reciprocal, at::reciprocal_out});
  function("Round", {at::round, at::round_out});  // both: halves to the even neighbour
  function("Sign", {at::sign, at::sign_out});
  function("Sin", {at::sin, at::sin_out});
  function("Sinh", {at::sinh, at::sinh_out});
  function("Sqrt", {at::sqrt, at::sqrt_out});
  function("Tan", {at::tan, at::tan_out});
}

}  // namespace d5::torch
