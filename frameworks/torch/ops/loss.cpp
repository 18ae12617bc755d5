// SPDX-License-Identifier: Apache-2.0
// Negative log-likelihood, of log-probabilities or of scores.
#include <ATen/core/Reduction.h>
#include <ATen/ops/_log_softmax.h>
#include <ATen/ops/_log_softmax_backward_data.h>
#include <ATen/ops/add.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/nll_loss_backward.h>
#include <ATen/ops/nll_loss_forward.h>
#include <ATen/ops/nll_loss_nd.h>

#include "d5/onnx/nodes.hpp"
#include "torch_kernel.hpp"

namespace d5::torch {
namespace {

/// Not a valid label: torch requires one to ignore.
constexpr std::int64_t kIgnoreNothing = -100;

template <class View>
std::int64_t reduction_of(const View& view) {
  if (view.reduction() == "none") return at::Reduction::None;
  return view.reduction() == "sum" ? at::Reduction::Sum : at::Reduction::Mean;
}

/// Shapes: scores N,C,d...; labels N,d...; weights C; loss a scalar, or as labels for "none".
class SoftmaxCrossEntropyLoss final : public TorchKernel {
  using View = onnx::nodes::SoftmaxCrossEntropyLoss;

 public:
  explicit SoftmaxCrossEntropyLoss(PlanContext& context)
      : TorchKernel(context),
        reduction_(reduction_of(View(node()))),
        ignored_(View(node()).ignore_index().value_or(kIgnoreNothing)),
        direct_(context.shape(View::In::scores).rank() == 2 &&
                context.dtype(View::In::labels) == DType::int64),
        saves_(direct_ && context.wants_backward()) {
    if (!saves_) return;
    context.save(context.input(View::In::scores));
    context.save({context.dtype(View::In::scores), {}});
  }

  void call(Inputs inputs, Results results, const Random&) const override {
    const at::Tensor log_prob = at::log_softmax(inputs[View::In::scores], 1);
    results[0] = at::nll_loss_nd(log_prob, inputs[View::In::labels].to(at::kLong), weights(inputs),
                                 reduction_, ignored_);
    if (results.size() > 1) results[1] = log_prob;
  }

  KernelTraits traits() const override {
    if (!direct_) return TorchKernel::traits();
    return {.backward_reads_inputs = {View::In::labels, View::In::weights},
            .backward_reads_outputs = {}};
  }

 protected:
  void run(OpContext& context) override {
    if (!direct_) return TorchKernel::run(context);
    const at::Tensor& scores = in(context, View::In::scores);
    if (!saves_ && !log_prob_.defined()) {
      log_prob_ = at::empty_like(scores);
      total_weight_ = at::empty({}, scores.options());
    }
    at::Tensor& log_prob = saves_ ? saved(context, 0) : log_prob_;
    at::Tensor& total_weight = saves_ ? saved(context, 1) : total_weight_;
    at::_log_softmax_out(log_prob, scores, 1, false);
    at::nll_loss_forward_out(out(context, 0), total_weight, log_prob, in(context, View::In::labels),
                             weights(context), reduction_, ignored_);
    if (context.wants_output(View::Out::log_prob)) {
      out(context, View::Out::log_prob).copy_(log_prob);
    }
  }

  void differentiate(GradContext& context) override {
    if (!direct_) return TorchKernel::differentiate(context);
    const at::Tensor& log_prob = saved(context, 0);
    if (!log_prob_gradient_.defined()) log_prob_gradient_ = at::empty_like(log_prob);
    at::Tensor& d_log_prob = log_prob_gradient_;
    if (context.has_grad_output(0)) {
      at::nll_loss_backward_out(d_log_prob, grad_out(context, 0), log_prob,
                                in(context, View::In::labels), weights(context), reduction_,
                                ignored_, saved(context, 1));
    } else {
      d_log_prob.zero_();
    }
    if (context.has_grad_output(View::Out::log_prob)) {
      d_log_prob.add_(grad_out(context, View::Out::log_prob));
    }
    at::_log_softmax_backward_data_out(grad_in(context, View::In::scores), d_log_prob, log_prob, 1,
                                       log_prob.scalar_type());
  }

 private:
  static std::optional<at::Tensor> weights(Inputs inputs) {
    return given(inputs, View::In::weights);
  }
  template <class Context>
  std::optional<at::Tensor> weights(const Context& context) {
    if (!context.has_input(View::In::weights)) return {};
    return in(context, View::In::weights);
  }

  std::int64_t reduction_, ignored_;
  bool
      direct_;  // torch's fast functions take a plain batch of scores; the rest goes through `call`
  bool saves_;
  at::Tensor log_prob_, total_weight_;  // used if the outputs are unused
  at::Tensor log_prob_gradient_;
};

/// Shapes: log-probabilities N,C,d...; labels N,d...; weights C.
class NegativeLogLikelihoodLoss final : public TorchKernel {
  using View = onnx::nodes::NegativeLogLikelihoodLoss;

 public:
  explicit NegativeLogLikelihoodLoss(const PlanContext& context)
      : TorchKernel(context),
        reduction_(reduction_of(View(node()))),
        ignored_(View(node()).ignore_index().value_or(kIgnoreNothing)) {}

  void call(Inputs inputs, Results results, const Random&) const override {
    results[0] = at::nll_loss_nd(inputs[0], inputs[1].to(at::kLong),
                                 given(inputs, View::In::weight), reduction_, ignored_);
  }

 private:
  std::int64_t reduction_, ignored_;
};

}  // namespace

void register_loss(OperatorRegistry& registry) {
  add<SoftmaxCrossEntropyLoss, onnx::nodes::SoftmaxCrossEntropyLoss>(registry, computes);
  add<NegativeLogLikelihoodLoss, onnx::nodes::NegativeLogLikelihoodLoss>(registry, computes);
}

}  // namespace d5::torch
