// SPDX-License-Identifier: Apache-2.0
// Negative log-likelihood, of probabilities given as logarithms or as scores.
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
#include "torch_operator.hpp"

namespace d5::torch {
namespace {

/// What no label is: torch must be told of one to ignore.
constexpr std::int64_t kIgnoreNothing = -100;

template <class View>
std::int64_t reduction_of(const View& view) {
  if (view.reduction() == "none") return at::Reduction::None;
  return view.reduction() == "sum" ? at::Reduction::Sum : at::Reduction::Mean;
}

/// Shapes: scores N,C,d...; labels N,d...; weights C; loss a scalar, or as labels for "none".
class SoftmaxCrossEntropyLoss final : public TorchOperator {
  using View = onnx::nodes::SoftmaxCrossEntropyLoss;

 public:
  explicit SoftmaxCrossEntropyLoss(const onnx::Node& node)
      : TorchOperator(node),
        reduction_(reduction_of(View(this->node()))),
        ignored_(View(this->node()).ignore_index().value_or(kIgnoreNothing)) {}

  void plan(PlanContext& context) override {
    const TensorDesc& scores = context.input(View::In::scores);
    // Torch's fast functions take a plain batch of scores; the rest goes through `call`.
    direct_ = scores.shape.rank() == 2 && context.dtype(View::In::labels) == DType::int64;
    if (!direct_) return;
    total_weight_ = at::empty({}, scalar_type(scores.dtype));
    log_prob_ = at::empty(sizes_of(scores.shape), scalar_type(scores.dtype));
    if (context.mode() == Mode::training) {
      log_prob_gradient_ = at::empty_like(log_prob_);
      context.save(scores);
      context.save({scores.dtype, {}});
    }
  }

  Results call(Inputs inputs, const Call&) const override {
    const at::Tensor log_prob = at::log_softmax(inputs[View::In::scores], 1);
    return {at::nll_loss_nd(log_prob, inputs[View::In::labels].to(at::kLong), weights(inputs),
                            reduction_, ignored_),
            log_prob};
  }

  bool backward_needs_input(std::size_t i) const override {
    return !direct_ || i != View::In::scores;
  }

 protected:
  void run(OpContext& context) override {
    if (!direct_) return TorchOperator::run(context);
    const bool keep = context.mode() == Mode::training;
    at::Tensor& log_prob = keep ? saved(context, 0) : log_prob_;
    at::Tensor& total_weight = keep ? saved(context, 1) : total_weight_;
    at::_log_softmax_out(log_prob, in(context, View::In::scores), 1, false);
    at::nll_loss_forward_out(out(context, 0), total_weight, log_prob, in(context, View::In::labels),
                             weights(context), reduction_, ignored_);
    if (context.wants_output(View::Out::log_prob)) {
      out(context, View::Out::log_prob).copy_(log_prob);
    }
  }

  void differentiate(GradContext& context) override {
    if (!direct_) return TorchOperator::differentiate(context);
    const at::Tensor& log_prob = saved(context, 0);
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
    if (inputs.size() <= View::In::weights || !inputs[View::In::weights].defined()) return {};
    return inputs[View::In::weights];
  }
  template <class Context>
  std::optional<at::Tensor> weights(const Context& context) {
    if (!context.has_input(View::In::weights)) return {};
    return in(context, View::In::weights);
  }

  std::int64_t reduction_, ignored_;
  bool direct_ = false;
  at::Tensor log_prob_, total_weight_, log_prob_gradient_;
};

/// Shapes: log-probabilities N,C,d...; labels N,d...; weights C.
class NegativeLogLikelihoodLoss final : public TorchOperator {
  using View = onnx::nodes::NegativeLogLikelihoodLoss;

 public:
  using TorchOperator::TorchOperator;

  Results call(Inputs inputs, const Call&) const override {
    const View view(node());
    std::optional<at::Tensor> weights;
    if (inputs.size() > 2 && inputs[2].defined()) weights = inputs[2];
    return {at::nll_loss_nd(inputs[0], inputs[1].to(at::kLong), weights, reduction_of(view),
                            view.ignore_index().value_or(kIgnoreNothing))};
  }
};

}  // namespace

void register_loss(OperatorRegistry& registry) {
  add<SoftmaxCrossEntropyLoss>(registry, "SoftmaxCrossEntropyLoss");
  add<NegativeLogLikelihoodLoss>(registry, "NegativeLogLikelihoodLoss");
}

}  // namespace d5::torch
