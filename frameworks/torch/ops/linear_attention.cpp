// SPDX-License-Identifier: Apache-2.0
// Attention with a state instead of a softmax, token by token: linear, gated, by the delta rule.
#include <ATen/ops/exp.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>

#include <cmath>

#include "d5/onnx/nodes.hpp"
#include "torch_kernel.hpp"

namespace d5::torch {
namespace {

using LinearAttentionView = onnx::nodes::LinearAttention;
using LinearAttentionIn = LinearAttentionView::In;
using Out = LinearAttentionView::Out;

/// Shapes: q B,T,Hq D; k B,T,Hkv D; v B,T,Hkv Dv; decay B,T,Hkv or Hkv D; beta B,T,Hkv or 1; the
/// states B,Hkv,D,Dv. A head of k serves Hq / Hkv adjacent heads of q.
class LinearAttention final : public TorchKernel {
 public:
  explicit LinearAttention(const PlanContext& context)
      : TorchKernel(context),
        heads_(LinearAttentionView(node()).kv_num_heads()),
        group_(LinearAttentionView(node()).q_num_heads() / heads_),
        scale_(LinearAttentionView(node()).scale()),
        sizes_(sizes_of(context.output(Out::output).shape).vec()) {
    const std::int64_t size = context.shape(LinearAttentionIn::key)[2] / heads_;
    if (scale_ == 0) scale_ = 1 / std::sqrt(double(size));
    state_ = {sizes_[0], heads_, size, context.shape(LinearAttentionIn::value)[2] / heads_};
  }

  /// S' = exp(decay) S;  u = beta (v - S'^T k), or v;  S = S' + k u^T;  y = scale S^T q
  void call(Inputs inputs, Results results, const Random&) const override {
    const at::Tensor q =
        widened(inputs[LinearAttentionIn::query]).unflatten(2, {heads_, group_, -1}) * scale_;
    const at::Tensor k = widened(inputs[LinearAttentionIn::key]).unflatten(2, {heads_, -1, 1});
    const at::Tensor v = widened(inputs[LinearAttentionIn::value]).unflatten(2, {heads_, 1, -1});
    const auto past = given(inputs, LinearAttentionIn::past_state);
    at::Tensor decay, beta;
    if (const auto x = given(inputs, LinearAttentionIn::decay)) {
      decay = at::exp(widened(*x)).unflatten(2, {heads_, -1, 1});
    }
    if (const auto x = given(inputs, LinearAttentionIn::beta))
      beta = widened(*x).unsqueeze(-1).unsqueeze(-1);
    at::Tensor state = past ? widened(*past) : at::zeros(state_, k.options());
    std::vector<at::Tensor> outputs;
    for (std::int64_t t = 0; t < k.size(1); ++t) {
      const at::Tensor key = k.select(1, t);
      at::Tensor u = v.select(1, t);
      if (decay.defined()) state = state * decay.select(1, t);
      if (beta.defined()) u = (u - at::matmul(key.transpose(2, 3), state)) * beta.select(1, t);
      state = state + key * u;
      outputs.push_back(at::matmul(q.select(1, t), state));
    }
    results[Out::output] =
        at::stack(outputs, 1).reshape(sizes_).to(inputs[LinearAttentionIn::query].scalar_type());
    if (results.size() <= Out::present_state) return;
    results[Out::present_state] =
        state.to((past ? *past : inputs[LinearAttentionIn::query]).scalar_type());
  }

 private:
  std::int64_t heads_, group_;
  double scale_;
  Sizes sizes_, state_;
};

}  // namespace

void register_linear_attention(OperatorRegistry& registry) {
  add<LinearAttention, LinearAttentionView>(registry, computes_some);
}

}  // namespace d5::torch
