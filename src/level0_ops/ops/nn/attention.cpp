// SPDX-License-Identifier: Apache-2.0
// Scaled dot product attention, with a mask, a cache of keys and values, and shared heads.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/attention/attention_kernel.hpp"
#include "level0_ops/kernels/expected_shape.hpp"

namespace d5::ops {
namespace {

using AttentionView = onnx::nodes::Attention;
using In = AttentionView::In;
using detail::AttentionSizes;

/// Kernel: AttentionKernel. Shapes: AttentionSizes.
class Attention final : public Operator {
 public:
  explicit Attention(const AttentionView& view)
      : heads_{view.q_num_heads(), view.kv_num_heads()},
        scale_(view.scale()),
        softcap_(view.softcap()),
        causal_(view.is_causal() != 0),
        left_(view.left_window_size()),
        right_(view.right_window_size()),
        opset_(view.node().opset) {
    const std::string who = onnx::describe(view.node());
    if (const auto precision = view.softmax_precision()) {
      softmax_ = detail::softmax_type(*precision, who);
    }
    if (!(softcap_ >= 0)) {
      throw ValueError(fmt::format("{}: softcap is {}, expected 0 or more", who, softcap_));
    }
    const std::int64_t mode = view.qk_matmul_output_mode();
    if (mode < 0 || mode > 3) {
      throw ValueError(fmt::format("{}: qk_matmul_output_mode is {}, expected 0 to 3", who, mode));
    }
    shown_ = detail::ScoreStage(mode);
    for (const std::int64_t size : {left_, right_}) {
      if (size >= -1) continue;
      throw ValueError(
          fmt::format("{}: a window's size is {}, expected 0 or more, or -1 for none", who, size));
    }
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    const AttentionSizes s = sizes(context);
    const auto present = [&](std::size_t i, std::int64_t size) {
      return TensorDesc{context.dtype(i), {s.batch, s.kv_heads, s.total(), size}};
    };
    return {TensorDesc{context.dtype(In::Q), s.output_shape()}, present(In::K, s.size),
            present(In::V, s.value_size), TensorDesc{context.dtype(In::Q), s.scores_shape()}};
  }

  Places gradients() const override {
    return {In::Q, In::K, In::V, In::attn_mask, In::past_key, In::past_value};
  }

  /// The two products; per score its scaling, the softmax's five operations, the mask's sum and the
  /// cap's three operations.
  Cost cost(const InferContext& context) const override {
    const AttentionSizes s = sizes(context);
    const double elementwise =
        1 + 5 + (context.has_input(In::attn_mask) ? 1 : 0) + (softcap_ > 0 ? 3 : 0);
    return with_flop(context, double(s.scores_shape().elements()) *
                                  (2.0 * double(s.size + s.value_size) + elementwise));
  }

  std::unique_ptr<Kernel> plan(PlanContext& context) const override {
    const AttentionSizes s = sizes(context);
    const DType type = context.dtype(In::Q);
    const DType arithmetic = type == DType::float64 ? DType::float64 : DType::float32;
    if (context.wants_backward() &&
        (type != arithmetic || context.dtype(In::V) != type ||
         (context.wants_grad(In::attn_mask) && context.dtype(In::attn_mask) != type))) {
      throw Unsupported(fmt::format(
          "{} has a gradient only if all its inputs are float32, or all float64", context.who()));
    }
    return detail::attention_kernel(s, rules(s, arithmetic), arithmetic, context);
  }

 private:
  AttentionSizes sizes(const InferContext& context) const {
    AttentionSizes s = detail::attention_sizes(context, heads_);
    if (!s.packed && opset_ >= 25 && (heads_.query || heads_.key_value)) {
      throw ValueError(fmt::format(
          "{}: q_num_heads and kv_num_heads are for inputs of three dimensions, but Q is {}",
          context.who(), to_string(context.shape(In::Q))));
    }
    if (context.has_input(In::past_key) != context.has_input(In::past_value)) {
      throw ShapeError(
          fmt::format("{}: past_key and past_value must be given together", context.who()));
    }
    if (context.has_input(In::past_key)) {
      const Shape& past = context.shape(In::past_key);
      if (past.rank() == 4) s.past = past[2];
      detail::expect_shape(context, In::past_key, "past_key",
                           {s.batch, s.kv_heads, s.past, s.size});
      detail::expect_shape(context, In::past_value, "past_value",
                           {s.batch, s.kv_heads, s.past, s.value_size});
    }
    if (context.has_input(In::nonpad_kv_seqlen)) {
      if (context.has_input(In::past_key)) {
        throw ShapeError(
            fmt::format("{}: nonpad_kv_seqlen describes a cache in K and V; expected no past_key "
                        "and past_value with it",
                        context.who()));
      }
      detail::expect_shape(context, In::nonpad_kv_seqlen, "nonpad_kv_seqlen", {s.batch});
    }
    (void)s.scores_shape().elements();  // throws if the number of elements overflows
    if (context.has_input(In::attn_mask)) {
      (void)detail::MaskLayout::of(context, In::attn_mask, s, opset_ >= 24);
    }
    return s;
  }

  detail::AttentionRules rules(const AttentionSizes& s, DType arithmetic) const {
    detail::AttentionRules rules{.scale = scale_ ? double(*scale_) : 1 / std::sqrt(double(s.size)),
                                 .softcap = softcap_,
                                 .shown = shown_,
                                 .softmax = softmax_.value_or(arithmetic)};
    // Clamped to the number of keys, so that sums with a position do not overflow.
    if (left_ >= 0) rules.window.left = std::min(left_, s.total() + s.queries);
    if (right_ >= 0) rules.window.right = std::min(right_, s.total() + s.queries);
    if (causal_) rules.window.right = 0;
    rules.window.pads = opset_ >= 24;
    return rules;
  }

  detail::PackedHeads heads_;
  std::optional<float> scale_;
  float softcap_;
  bool causal_;
  std::int64_t left_, right_;
  int opset_;
  std::optional<DType> softmax_;
  detail::ScoreStage shown_;
};

}  // namespace

void register_attention(OperatorRegistry& registry) { registry.add<Attention, AttentionView>(); }

}  // namespace d5::ops
