// SPDX-License-Identifier: Apache-2.0
// Batch normalization and local response normalization.
#include <ATen/ops/add.h>
#include <ATen/ops/avg_pool2d.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/native_batch_norm.h>
#include <ATen/ops/native_batch_norm_backward.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/zeros_like.h>

#include "d5/onnx/nodes.hpp"
#include "result_memory.hpp"
#include "torch_operator.hpp"

namespace d5::torch {
namespace {

/// Shapes: x N,C,d...; all statistics C.
class BatchNormalization final : public TorchOperator {
  using View = onnx::nodes::BatchNormalization;
  using In = View::In;

 public:
  explicit BatchNormalization(const onnx::Node& node)
      : TorchOperator(node),
        epsilon_(View(this->node()).epsilon()),
        momentum_(View(this->node()).momentum()),
        training_(View(this->node()).training_mode() != 0) {}

  void plan(PlanContext& context) override {
    const TensorDesc& scale = context.input(In::scale);
    mean_ = at::empty(sizes_of(scale.shape), scalar_type(scale.dtype));
    inverse_deviation_ = at::empty_like(mean_);
    batch_mean_ = at::empty_like(mean_);
    batch_variance_ = at::empty_like(mean_);
    if (context.mode() == Mode::training && training_) {
      context.save(scale);
      context.save(scale);
    }
  }

  Results call(Inputs in, const Call&) const override {
    if (!training_) {
      return {
          std::get<0>(at::native_batch_norm(in[In::X], in[In::scale], in[In::B], in[In::input_mean],
                                            in[In::input_var], false, 0, epsilon_))};
    }
    const at::Tensor mean = at::zeros_like(in[In::input_mean]), variance = at::zeros_like(mean);
    Results results = {std::get<0>(at::native_batch_norm(in[In::X], in[In::scale], in[In::B], mean,
                                                         variance, true, kBatchOnly, epsilon_))};
    results.push_back(in[In::input_mean] * momentum_ + mean * (1 - momentum_));
    results.push_back(in[In::input_var] * momentum_ +
                      variance * ((1 - momentum_) * population_factor(in[In::X])));
    return results;
  }

  bool backward_needs_input(std::size_t i) const override { return i != In::B; }

 protected:
  void run(OpContext& context) override {
    const at::Tensor& x = in(context, In::X);
    if (!training_) {
      at::native_batch_norm_out(
          out(context, 0), mean_, inverse_deviation_, x, in(context, In::scale), in(context, In::B),
          in(context, In::input_mean), in(context, In::input_var), false, 0, epsilon_);
      return;
    }
    const bool keep = context.mode() == Mode::training;
    at::native_batch_norm_out(out(context, 0), keep ? saved(context, 0) : mean_,
                              keep ? saved(context, 1) : inverse_deviation_, x,
                              in(context, In::scale), in(context, In::B), batch_mean_.zero_(),
                              batch_variance_.zero_(), true, kBatchOnly, epsilon_);
    if (context.wants_output(View::Out::running_mean)) {
      at::Tensor& y = out(context, View::Out::running_mean);
      at::mul_out(y, in(context, In::input_mean), at::scalar_tensor(momentum_, y.options()));
      y.add_(batch_mean_, 1 - momentum_);
    }
    if (context.wants_output(View::Out::running_var)) {
      at::Tensor& y = out(context, View::Out::running_var);
      at::mul_out(y, in(context, In::input_var), at::scalar_tensor(momentum_, y.options()));
      y.add_(batch_variance_, (1 - momentum_) * population_factor(x));
    }
  }

  void differentiate(GradContext& context) override {
    std::optional<at::Tensor> mean, variance, saved_mean, saved_inverse;
    if (training_) {
      saved_mean = saved(context, 0);
      saved_inverse = saved(context, 1);
    } else {
      mean = in(context, In::input_mean);
      variance = in(context, In::input_var);
      if (context.wants_grad(3) || context.wants_grad(4)) {
        return TorchOperator::differentiate(context);
      }
    }
    const std::array<bool, 3> wanted = {context.wants_grad(0), context.wants_grad(1),
                                        context.wants_grad(2)};
    ResultMemory memory;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      memory.offer(wanted[i] ? grad_in(context, i) : at::Tensor());
    }
    const auto [dx, dscale, dbias] = at::native_batch_norm_backward(
        grad_out(context, 0), in(context, In::X), in(context, In::scale), mean, variance,
        saved_mean, saved_inverse, training_, epsilon_, wanted);
    memory.deliver({dx, dscale, dbias});
  }

 private:
  /// Torch's running statistics then hold those of this batch alone.
  static constexpr double kBatchOnly = 1;
  /// Torch's running variance is the sample's (n - 1), ONNX's is the population's (n).
  static double population_factor(const at::Tensor& x) {
    const double n = double(x.numel()) / double(x.size(1));
    return n > 1 ? (n - 1) / n : 0;
  }

  double epsilon_, momentum_;
  bool training_;
  at::Tensor mean_, inverse_deviation_, batch_mean_, batch_variance_;
};

Support normalizes_as_torch(const onnx::Node& node) {
  const onnx::nodes::BatchNormalization view(node);
  if (view.spatial() == 0) return {"BatchNormalization with spatial=0"};
  if (node.opset < 14 && node.has_output(1)) {
    return {"BatchNormalization in training mode before opset 14"};
  }
  if (node.opset < 7 && view.is_test() == 0) {
    return {"BatchNormalization with is_test=0 (opset < 7)"};
  }
  return {};
}

/// y = x / (bias + alpha / size * sum of squares of `size` channels around)^beta
/// Shapes: x and y N,C,d...
class LRN final : public TorchOperator {
 public:
  using TorchOperator::TorchOperator;

  Results call(Inputs inputs, const Call&) const override {
    const onnx::nodes::LRN view(node());
    const at::Tensor& x = inputs[0];
    const std::int64_t before = (view.size() - 1) / 2, after = view.size() / 2;
    const at::Tensor squares = (x * x).reshape({x.size(0), 1, x.size(1), -1});
    const at::Tensor means = at::avg_pool2d(at::constant_pad_nd(squares, {0, 0, before, after}),
                                            {view.size(), 1}, /*stride=*/1);
    const at::Tensor scale = at::add(means.view(x.sizes()) * double(view.alpha()), view.bias());
    return {x / at::pow(scale, double(view.beta()))};
  }
};

}  // namespace

void register_normalization(OperatorRegistry& registry) {
  add<BatchNormalization>(registry, "BatchNormalization", normalizes_as_torch);
  add<LRN>(registry, "LRN");
}

}  // namespace d5::torch
