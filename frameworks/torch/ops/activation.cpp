// SPDX-License-Identifier: Apache-2.0
// Activations with attributes or a second input, and tests of single elements.
#include <ATen/ops/_prelu_kernel.h>
#include <ATen/ops/celu.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/elu.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/hardshrink.h>
#include <ATen/ops/hardsigmoid.h>
#include <ATen/ops/isinf.h>
#include <ATen/ops/isneginf.h>
#include <ATen/ops/isposinf.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/softplus.h>
#include <ATen/ops/softshrink.h>
#include <ATen/ops/threshold.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include <cmath>
#include <functional>
#include <string>

#include "computes_floats.hpp"
#include "d5/onnx/nodes.hpp"

namespace d5::torch {
namespace {

namespace nodes = onnx::nodes;

using Function = std::function<at::Tensor(const at::Tensor& x)>;

class Activation final : public TorchKernel {
 public:
  Activation(const PlanContext& context, Function (*make)(const onnx::Node&))
      : TorchKernel(context), function_(make(context.node())) {}

  void call(Inputs inputs, Results results, const Random&) const override {
    results[0] = function_(inputs[0]);
  }

 private:
  Function function_;
};

at::Tensor swish(const at::Tensor& x, double alpha) {
  return alpha == 1 ? at::silu(x) : x * at::sigmoid(x * alpha);
}

/// Above this, exp(-x) is negligible relative to x, even in double.
constexpr double kSoftplusIsLinear = 40;

/// Torch has the variant that keeps values outside, and the one that moves them to 0 without a
/// step.
constexpr auto shrink = [](const nodes::Shrink& view) -> Function {
  const float lambd = view.lambd(), bias = view.bias();
  if (bias == 0) return [lambd](const at::Tensor& x) { return at::hardshrink(x, lambd); };
  if (bias == lambd && lambd > 0) {
    return [lambd](const at::Tensor& x) { return at::softshrink(x, lambd); };
  }
  return [lambd, bias](const at::Tensor& x) {
    const at::Tensor above = at::where(x > lambd, x - bias, at::zeros_like(x));
    return at::where(x < -lambd, x + bias, above);
  };
};

/// Torch has the hard sigmoid that ends at -3 and 3.
constexpr auto hard_sigmoid = [](const nodes::HardSigmoid& view) -> Function {
  const float alpha = view.alpha(), beta = view.beta();
  if (alpha == 1.0f / 6 && beta == 0.5f) {
    return [](const at::Tensor& x) { return at::hardsigmoid(x); };
  }
  return [alpha, beta](const at::Tensor& x) { return at::clamp(x * alpha + beta, 0, 1); };
};

constexpr auto is_inf = [](const nodes::IsInf& view) -> Function {
  const bool negative = view.detect_negative() != 0, positive = view.detect_positive() != 0;
  if (negative && positive) return [](const at::Tensor& x) { return at::isinf(x); };
  if (positive) return [](const at::Tensor& x) { return at::isposinf(x); };
  if (negative) return [](const at::Tensor& x) { return at::isneginf(x); };
  return [](const at::Tensor& x) { return at::zeros_like(x, at::kBool); };
};

/// y = x, or slope x below zero. Torch's own supports only reals; at 0 it uses the slope as the
/// gradient.
class PRelu final : public TorchKernel {
  using View = nodes::PRelu;

 public:
  explicit PRelu(const PlanContext& context)
      : TorchKernel(context), sizes_(sizes_of(context.shape(View::In::slope)).vec()) {
    const std::size_t rank = context.shape(View::In::X).rank();
    if (node().opset >= 7 || sizes_.size() != 1 || rank < 2) return;
    sizes_.resize(rank - 1, 1);  // one for each channel
  }

  void call(Inputs inputs, Results results, const Random&) const override {
    const at::Tensor& x = inputs[View::In::X];
    const at::Tensor slope = inputs[View::In::slope].reshape(sizes_);
    results[0] =
        x.is_floating_point() ? at::_prelu_kernel(x, slope) : at::where(x < 0, slope * x, x);
  }

 private:
  Sizes sizes_;  // sizes of the broadcast slope
};

/// y = swish(a) b
class SwiGlu final : public TorchKernel {
  using View = nodes::SwiGLU;

 public:
  explicit SwiGlu(const PlanContext& context)
      : TorchKernel(context), alpha_(View(node()).alpha()) {}

  void call(Inputs inputs, Results results, const Random&) const override {
    results[0] = swish(inputs[View::In::A], alpha_) * inputs[View::In::B];
  }

 private:
  double alpha_;
};

Support divides_by_alpha(const PlanContext& context) {
  const float alpha = nodes::Celu(context.node()).alpha();
  if (!std::isfinite(1 / alpha)) return {"Celu with alpha " + std::to_string(alpha)};
  return computes_floats(context);
}

/// A row of the table: `make` returns the function for a node's attributes, and captures nothing.
template <class View, class Make>
void add_activation(OperatorRegistry& registry, Make,
                    Support (*check)(const PlanContext&) = computes_floats) {
  add<Activation, View>(
      registry, check, +[](const onnx::Node& node) -> Function { return Make()(View(node)); });
}

}  // namespace

void register_activation(OperatorRegistry& registry) {
  using at::Tensor;
  add_activation<nodes::Celu>(
      registry,
      [](const nodes::Celu& view) {
        return [a = view.alpha()](const Tensor& x) { return at::celu(x, a); };
      },
      divides_by_alpha);
  add_activation<nodes::Elu>(registry, [](const nodes::Elu& view) {
    return [a = view.alpha()](const Tensor& x) { return at::elu(x, a); };
  });
  add_activation<nodes::Selu>(registry, [](const nodes::Selu& view) {
    return [a = view.alpha(), g = view.gamma()](const Tensor& x) { return at::elu(x, a, g); };
  });
  add_activation<nodes::Gelu>(registry, [](const nodes::Gelu& view) {
    return [kind = view.approximate()](const Tensor& x) { return at::gelu(x, kind); };
  });
  add_activation<nodes::HardSigmoid>(registry, hard_sigmoid);
  add_activation<nodes::LeakyRelu>(registry, [](const nodes::LeakyRelu& view) {
    return [a = view.alpha()](const Tensor& x) { return at::leaky_relu(x, a); };
  });
  add_activation<nodes::Softplus>(registry, [](const nodes::Softplus&) {
    return [](const Tensor& x) { return at::softplus(x, 1, kSoftplusIsLinear); };
  });
  add_activation<nodes::Softsign>(registry, [](const nodes::Softsign&) {
    return [](const Tensor& x) { return x / (x.abs() + 1); };
  });
  add_activation<nodes::Swish>(registry, [](const nodes::Swish& view) {
    return [a = view.alpha()](const Tensor& x) { return swish(x, a); };
  });
  add_activation<nodes::ThresholdedRelu>(registry, [](const nodes::ThresholdedRelu& view) {
    return [a = view.alpha()](const Tensor& x) { return at::threshold(x, a, 0); };
  });
  add_activation<nodes::Shrink>(registry, shrink);
  add_activation<nodes::IsInf>(registry, is_inf);
  add<PRelu, nodes::PRelu>(registry, computes);
  add<SwiGlu, nodes::SwiGLU>(registry, computes);
}

}  // namespace d5::torch
