// SPDX-License-Identifier: Apache-2.0
// Scaled dot product attention, with a mask, a cache of keys and values, and shared heads.
#include <ATen/ops/_safe_softmax.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/nodes.hpp"
#include "torch_kernel.hpp"

namespace d5::torch {
namespace {

using AttentionView = onnx::nodes::Attention;
using AttentionIn = AttentionView::In;
using Out = AttentionView::Out;
using FlexView = onnx::nodes::preview::FlexAttention;

constexpr double kHidden = -std::numeric_limits<double>::infinity();

/// Properties of a node that do not depend on its inputs' values.
struct AttentionRules {
  std::int64_t q_heads = 0, kv_heads = 0;  ///< 0: given by the shapes
  double scale = 0, softcap = 0;
  std::optional<std::int64_t> left = {}, right = {};  ///< window of a query
  bool pads = false;       ///< a mask that is shorter hides the keys behind it
  std::int64_t shown = 0;  ///< scores that are scaled, capped, masked, softmax's
  std::optional<at::ScalarType> softmax = {};

  template <class V>
  void take_scale(const V& view, const PlanContext& context) {
    const Shape& q = context.shape(AttentionIn::Q);
    const std::int64_t size = q.rank() == 4 ? q[3] : q[2] / q_heads;
    scale = view.scale() ? double(*view.scale()) : 1 / std::sqrt(double(size));
    if (const auto type = view.softmax_precision())
      softmax = scalar_type(static_cast<DType>(*type));
  }
};

AttentionRules rules_of(const AttentionView& view, const PlanContext& context) {
  AttentionRules rules{.q_heads = view.q_num_heads().value_or(0),
                       .kv_heads = view.kv_num_heads().value_or(0),
                       .softcap = view.softcap(),
                       .pads = view.node().opset >= 24,
                       .shown = view.qk_matmul_output_mode()};
  // Clamps the distance beyond all keys, so that no sum with a position can overflow.
  const std::int64_t most = std::int64_t{1} << 40;
  if (view.left_window_size() >= 0) rules.left = std::min(view.left_window_size(), most);
  if (view.right_window_size() >= 0) rules.right = std::min(view.right_window_size(), most);
  if (view.is_causal() != 0) rules.right = 0;
  rules.take_scale(view, context);
  return rules;
}

AttentionRules rules_of(const FlexView& view, const PlanContext& context) {
  AttentionRules rules;
  rules.take_scale(view, context);
  return rules;
}

/// Shapes: q B,Hq,L,D; k B,Hkv,S,D; v B,Hkv,S,Dv; y B,Hq,L,Dv; or packed B,L,Hq D and so on. Each
/// head of k and v serves Hq / Hkv adjacent heads of q. The past precedes k and v.
template <class V>
class Attention final : public TorchKernel {
 public:
  explicit Attention(const PlanContext& context)
      : TorchKernel(context),
        rules_(rules_of(V(context.node()), context)),
        packed_(context.shape(AttentionIn::Q).rank() == 3),
        sizes_(sizes_of(context.output(0).shape).vec()),
        fused_(rules_.softcap == 0 && !context.wants_output(Out::qk_matmul_output) &&
               rules_.softmax.value_or(at::kFloat) == at::kFloat) {}

  void call(Inputs inputs, Results results, const Random&) const override {
    const at::Tensor q = heads(inputs[AttentionIn::Q], rules_.q_heads);
    const at::Tensor k = behind(given(inputs, AttentionIn::past_key),
                                heads(inputs[AttentionIn::K], rules_.kv_heads));
    const at::Tensor v = behind(given(inputs, AttentionIn::past_value),
                                heads(inputs[AttentionIn::V], rules_.kv_heads));
    // Copied, because without a past they may be inputs.
    if (results.size() > Out::present_key) results[Out::present_key] = k.clone();
    if (results.size() > Out::present_value) results[Out::present_value] = v.clone();
    const auto mask = mask_of(inputs, q, k);
    at::Tensor y;
    if (fused_) {
      y = at::scaled_dot_product_attention(widened(q), widened(k), widened(v), mask,
                                           /*dropout_p=*/0, /*is_causal=*/false, rules_.scale,
                                           /*enable_gqa=*/q.size(1) != k.size(1))
              .to(q.scalar_type());
    } else {
      at::Tensor shown;
      y = step_by_step(q, k, v, mask, shown);
      if (results.size() > Out::qk_matmul_output) results[Out::qk_matmul_output] = shown;
    }
    results[Out::Y] = packed_ ? y.transpose(1, 2).reshape(sizes_) : y;
  }

 private:
  at::Tensor heads(const at::Tensor& x, std::int64_t count) const {
    return packed_ ? x.unflatten(2, {count, -1}).transpose(1, 2) : x;
  }
  static at::Tensor behind(const std::optional<at::Tensor>& past, const at::Tensor& x) {
    return past ? at::cat({*past, x}, 2) : x;
  }

  /// Values added to the scores, minus infinity for hidden keys; or a mask of visible keys.
  std::optional<at::Tensor> mask_of(Inputs inputs, const at::Tensor& q, const at::Tensor& k) const {
    auto mask = given(inputs, AttentionIn::attn_mask);
    const std::int64_t missing = mask && mask->dim() > 0 ? k.size(2) - mask->size(-1) : 0;
    while (mask && mask->dim() < 2) mask = mask->unsqueeze(0);
    if (mask && mask->scalar_type() != at::kBool) {
      mask = mask->to(at::toOpMathType(q.scalar_type()));
    }
    if (rules_.pads && missing > 0) {
      const bool selects = mask->scalar_type() == at::kBool;
      mask = at::constant_pad_nd(*mask, {0, missing}, selects ? at::Scalar(false) : kHidden);
    }
    const auto visible = visible_of(inputs, q.size(2), k.size(2));
    if (!visible || !mask) return visible ? visible : mask;
    if (mask->scalar_type() == at::kBool) return *visible & *mask;
    return at::where(*visible, *mask, kHidden);
  }

  /// Visible keys of each query, apart from the mask; empty: all.
  std::optional<at::Tensor> visible_of(Inputs inputs, std::int64_t queries,
                                       std::int64_t keys) const {
    const auto lengths = given(inputs, AttentionIn::nonpad_kv_seqlen);
    if (!lengths && !rules_.left && !rules_.right) return std::nullopt;
    const at::Tensor key = at::arange(keys, of_type(at::kLong));
    const at::Tensor query = at::arange(queries, of_type(at::kLong)).unsqueeze(1);
    at::Tensor position, visible;
    if (lengths) {
      if (((*lengths < 0) | (*lengths > keys)).any().template item<bool>()) {
        throw ValueError(onnx::describe(node()) + ": nonpad_kv_seqlen holds a length outside [0, " +
                         std::to_string(keys) + "]");
      }
      const at::Tensor length = lengths->reshape({-1, 1, 1, 1});
      position = query + (length - queries);
      visible = (key < length).expand({-1, -1, queries, -1});
    } else {
      const auto past = given(inputs, AttentionIn::past_key);
      position = query + (past ? past->size(2) : 0);
      visible = key >= at::zeros_like(query);
    }
    if (rules_.right) visible = visible & (key <= position + *rules_.right);
    if (rules_.left) visible = visible & (key >= position - *rules_.left);
    return visible;
  }

  /// The computation of torch's single function in steps, for outputs that it lacks and rules in
  /// which it differs.
  at::Tensor step_by_step(const at::Tensor& q, at::Tensor k, at::Tensor v,
                          const std::optional<at::Tensor>& mask, at::Tensor& shown) const {
    if (const std::int64_t group = q.size(1) / k.size(1); group != 1) {
      k = k.repeat_interleave(group, 1);
      v = v.repeat_interleave(group, 1);
    }
    at::Tensor scores = at::matmul(widened(q), widened(k).transpose(2, 3)) * rules_.scale;
    const at::ScalarType type = scores.scalar_type();
    const auto show = [&](std::int64_t stage) {
      if (stage == rules_.shown) shown = scores.to(q.scalar_type());
    };
    show(0);
    if (rules_.softcap > 0) scores = at::tanh(scores / rules_.softcap) * rules_.softcap;
    show(1);
    if (mask && mask->scalar_type() == at::kBool) {
      scores = at::where(*mask, scores, kHidden);
    } else if (mask) {  // hides infinities and NaN, too
      scores = at::where(*mask == kHidden, kHidden, scores + *mask);
    }
    show(2);
    scores = at::_safe_softmax(scores.to(rules_.softmax.value_or(type)), 3).to(type);
    show(3);
    return at::matmul(scores, v.to(type)).to(q.scalar_type());
  }

  AttentionRules rules_;
  bool packed_;
  Sizes sizes_;
  bool fused_;
};

/// Torch's softmax over no keys is NaN.
Support attends(const PlanContext& context) {
  for (const std::size_t i : {AttentionIn::Q, AttentionIn::K, AttentionIn::V}) {
    if (context.input(i).elements() == 0) return {"Attention on no elements"};
    if (context.dtype(i) != context.dtype(AttentionIn::Q))
      return {"Attention of several element types"};
  }
  return computes(context);
}

Support attends_without_graphs(const PlanContext& context) {
  for (const char* graph : {"score_mod", "prob_mod"}) {
    if (context.node().attributes.contains(graph))
      return {std::string("FlexAttention with ") + graph};
  }
  return attends(context);
}

}  // namespace

void register_attention(OperatorRegistry& registry) {
  add<Attention<AttentionView>, AttentionView>(registry, attends);
  add<Attention<FlexView>, FlexView>(registry, attends_without_graphs);
}

}  // namespace d5::torch
