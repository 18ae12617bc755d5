// SPDX-License-Identifier: Apache-2.0
// Batch normalization and local response normalization.
#include <ATen/ops/add.h>
#include <ATen/ops/avg_pool2d.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/native_batch_norm.h>
#include <ATen/ops/native_batch_norm_backward.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>

#include "d5/onnx/nodes.hpp"
#include "result_memory.hpp"
#include "torch_kernel.hpp"

namespace d5::torch {
namespace {

/// Shapes: x N,C,d...; all statistics C.
class BatchNormalization final : public TorchKernel {
  using View = onnx::nodes::BatchNormalization;
  using In = View::In;

 public:
  explicit BatchNormalization(PlanContext& context)
      : TorchKernel(context),
        epsilon_(View(node()).epsilon()),
        momentum_(View(node()).momentum()),
        type_(at::toOpMathType(scalar_type(context.dtype(In::X)))),
        training_(View(node()).training_mode() != 0),
        saves_(training_ && context.wants_backward()) {
    for (const std::size_t i : {In::scale, In::B, In::input_mean, In::input_var}) {
      converts_ = converts_ || scalar_type(context.dtype(i)) != type_;
    }
    const Shape& x = context.shape(In::X);
    const double n = double(x.elements()) / double(context.shape(In::scale).elements());
    population_factor_ = n > 1 ? (n - 1) / n : 0;
    if (!saves_) return;
    const TensorDesc statistics{dtype_of_scalar(type_), context.shape(In::scale)};
    context.save(statistics);
    context.save(statistics);
  }

  void call(Inputs in, Results results, const Random&) const override {
    const at::Tensor scale = wide(in[In::scale]), bias = wide(in[In::B]);
    if (!training_) {
      results[0] =
          std::get<0>(at::native_batch_norm(in[In::X], scale, bias, wide(in[In::input_mean]),
                                            wide(in[In::input_var]), false, 0, epsilon_));
      return;
    }
    const at::Tensor mean = at::zeros_like(scale), variance = at::zeros_like(scale);
    results[0] = std::get<0>(
        at::native_batch_norm(in[In::X], scale, bias, mean, variance, true, kBatchOnly, epsilon_));
    if (results.size() > 1) results[1] = running(in[In::input_mean], mean, 1);
    if (results.size() > 2) results[2] = running(in[In::input_var], variance, population_factor_);
  }

  KernelTraits traits() const override {
    return {.backward_reads_inputs = {In::X, In::scale, In::B, In::input_mean, In::input_var},
            .backward_reads_outputs = {}};
  }

 protected:
  void run(OpContext& context) override {
    const at::Tensor& x = in(context, In::X);
    const at::Tensor scale = wide(in(context, In::scale)), bias = wide(in(context, In::B));
    if (!mean_.defined()) {
      for (auto* buffer : {&mean_, &inverse_deviation_, &batch_mean_, &batch_variance_}) {
        *buffer = at::empty_like(scale);
      }
    }
    if (!training_) {
      at::native_batch_norm_out(out(context, 0), mean_, inverse_deviation_, x, scale, bias,
                                wide(in(context, In::input_mean)), wide(in(context, In::input_var)),
                                false, 0, epsilon_);
      return;
    }
    at::native_batch_norm_out(out(context, 0), saves_ ? saved(context, 0) : mean_,
                              saves_ ? saved(context, 1) : inverse_deviation_, x, scale, bias,
                              batch_mean_.zero_(), batch_variance_.zero_(), true, kBatchOnly,
                              epsilon_);
    if (context.wants_output(View::Out::running_mean)) {
      out(context, View::Out::running_mean)
          .copy_(running(in(context, In::input_mean), batch_mean_, 1));
    }
    if (context.wants_output(View::Out::running_var)) {
      out(context, View::Out::running_var)
          .copy_(running(in(context, In::input_var), batch_variance_, population_factor_));
    }
  }

  void differentiate(GradContext& context) override {
    std::optional<at::Tensor> mean, variance, saved_mean, saved_inverse;
    if (training_) {
      saved_mean = saved(context, 0);
      saved_inverse = saved(context, 1);
    } else {
      mean = wide(in(context, In::input_mean));
      variance = wide(in(context, In::input_var));
      if (context.wants_grad(3) || context.wants_grad(4)) {
        return TorchKernel::differentiate(context);
      }
    }
    const std::array<bool, 3> wanted = {context.wants_grad(0), context.wants_grad(1),
                                        context.wants_grad(2)};
    ResultMemory memory;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      memory.offer(wanted[i] ? grad_in(context, i) : at::Tensor());
    }
    const auto [dx, dscale, dbias] = at::native_batch_norm_backward(
        grad_out(context, 0), in(context, In::X), wide(in(context, In::scale)), mean, variance,
        saved_mean, saved_inverse, training_, epsilon_, wanted);
    memory.deliver({dx, dscale, dbias});
  }

 private:
  /// Makes torch's running statistics those of this batch only.
  static constexpr double kBatchOnly = 1;

  /// Converts to the type in which torch computes statistics; small floats cannot hold the
  /// variance.
  at::Tensor wide(const at::Tensor& x) const { return converts_ ? x.to(type_) : x; }
  /// A running statistic after the batch, whose weight is `share`.
  at::Tensor running(const at::Tensor& before, const at::Tensor& batch, double share) const {
    const at::Tensor kept = wide(before) * momentum_;
    const at::Tensor y = share == 0 ? kept : at::add(kept, batch, (1 - momentum_) * share);
    return converts_ ? y.to(before.scalar_type()) : y;
  }

  double epsilon_, momentum_;
  at::ScalarType type_;  ///< type of the statistics
  bool converts_ = false;
  bool training_, saves_;
  /// Torch's running variance is the sample's (n - 1), ONNX's is the population's (n); 0 for one
  /// element.
  double population_factor_;
  at::Tensor mean_, inverse_deviation_, batch_mean_, batch_variance_;
};

Support normalizes_as_torch(const PlanContext& context) {
  const onnx::Node& node = context.node();
  const onnx::nodes::BatchNormalization view(node);
  if (context.shape(0).rank() < 2) return {"BatchNormalization of one dimension"};
  if (view.spatial() == 0) return {"BatchNormalization with spatial=0"};
  if (node.opset < 14 && node.has_output(1)) {
    return {"BatchNormalization in training mode before opset 14"};
  }
  if (node.opset < 7 && view.is_test() == 0) {
    return {"BatchNormalization with is_test=0 (opset < 7)"};
  }
  return computes_some(context);  // it divides by their number
}

/// y = x / (bias + alpha / size * sum of squares of `size` channels around)^beta
/// Shapes: x and y N,C,d...
class LRN final : public TorchKernel {
  using View = onnx::nodes::LRN;

 public:
  explicit LRN(const PlanContext& context)
      : TorchKernel(context),
        size_(View(node()).size()),
        before_(std::min((size_ - 1) / 2, context.shape(0)[1] - 1)),
        after_(std::min(size_ / 2, context.shape(0)[1] - 1)),
        alpha_(View(node()).alpha()),
        beta_(View(node()).beta()),
        bias_(View(node()).bias()) {}

  void call(Inputs inputs, Results results, const Random&) const override {
    const at::Tensor& x = inputs[0];
    const at::Tensor squares = (x * x).reshape({x.size(0), 1, x.size(1), -1});
    const at::Tensor means =
        at::avg_pool2d(at::constant_pad_nd(squares, {0, 0, before_, after_}),
                       {before_ + 1 + after_, 1}, /*stride=*/1, /*padding=*/0, /*ceil_mode=*/false,
                       /*count_include_pad=*/true, /*divisor_override=*/size_);
    const at::Tensor scale = at::add(means.view(x.sizes()) * alpha_, bias_);
    results[0] = x / at::pow(scale, beta_);
  }

 private:
  std::int64_t size_;
  std::int64_t before_, after_;  ///< channels of the window that there are
  double alpha_, beta_, bias_;
};

}  // namespace

void register_normalization(OperatorRegistry& registry) {
  add<BatchNormalization, onnx::nodes::BatchNormalization>(registry, normalizes_as_torch);
  add<LRN, onnx::nodes::LRN>(registry, computes_some);
}

}  // namespace d5::torch
