// SPDX-License-Identifier: Apache-2.0
// com.microsoft's Attention and QAttention: projections of one input, followed by attention, as
// written by onnxruntime.transformers and onnxruntime.quantization.
#include <fmt/format.h>

#include <numeric>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/attention/attention_steps.hpp"

namespace d5::ops {
namespace {

namespace nodes = onnx::nodes::microsoft;
using detail::AttentionTerms;
using detail::Composition;
using detail::Term;

template <class View>
detail::AttentionAttributes attributes_of(const View& view) {
  if (view.do_rotary().value_or(0) != 0 || view.past_present_share_buffer().value_or(0) != 0) {
    throw Unsupported(
        fmt::format("{}: expected do_rotary 0 and past_present_share_buffer 0; use a separate "
                    "RotaryEmbedding for queries and keys",
                    onnx::describe(view.node())));
  }
  return {.heads = view.num_heads(),
          .scale = view.scale(),
          .causal = view.unidirectional() != 0,
          .hidden = view.mask_filter_value().value_or(-10000)};
}

/// Widths of Q, K and V, which are concatenated in `projected`.
std::vector<std::int64_t> widths(const Composition& c, Term projected,
                                 const std::optional<std::vector<std::int64_t>>& given) {
  const Shape& x = c.shape(projected);
  if (x.rank() != 3) {
    throw ShapeError(fmt::format("{}: the projected input is {}, expected three dimensions",
                                 c.context().who(), to_string(x)));
  }
  const std::int64_t third = x[2] / 3;
  const auto result = given && !given->empty() ? *given : std::vector{third, third, third};
  if (result.size() != 3 ||
      std::accumulate(result.begin(), result.end(), std::int64_t{0}) != x[2]) {
    throw ShapeError(
        fmt::format("{}: queries, keys and values cannot be split from {}; expected three widths "
                    "that add up to its last dimension",
                    c.context().who(), to_string(x)));
  }
  return result;
}

/// `past` and output 1 are 2 x B x heads x keys x size: keys, then values.
void attend(Composition& c, const detail::AttentionAttributes& attributes, Term projected,
            const std::optional<std::vector<std::int64_t>>& sizes, AttentionTerms terms,
            Term past) {
  const auto parts = detail::split(c, projected, 2, widths(c, projected, sizes));
  terms.query = parts[0], terms.key = parts[1], terms.value = parts[2];
  const Term first = c.integers({0});
  if (past) {
    const auto pasts = detail::split(c, past, 0, {1, 1});
    terms.past_key = c.add("Squeeze", {pasts[0], first});
    terms.past_value = c.add("Squeeze", {pasts[1], first});
  }
  const bool wants_present = c.context().wants_output(1);
  const auto result = detail::add_attention(c, attributes, terms, wants_present);
  c.output(0, result.output);
  if (!wants_present) return;
  c.output(1, c.add("Concat",
                    {c.add("Unsqueeze", {result.present_key, first}),
                     c.add("Unsqueeze", {result.present_value, first})},
                    {{"axis", std::int64_t{0}}}));
}

/// Shapes: input B x S x I, weights I x (H + H + Hv), bias as their columns, output B x S x Hv.
class PackedAttention final : public detail::ComposedOperator {
  using View = nodes::Attention;
  using In = View::In;

 public:
  explicit PackedAttention(const View& view)
      : attributes_(attributes_of(view)), sizes_(view.qkv_hidden_sizes()) {}
  Places gradients() const override {
    return {In::input, In::weights, In::bias, In::past, In::attention_bias};
  }

 protected:
  void compose(Composition& c) const override {
    detail::refuse_shared_cache(c.context(), In::past_sequence_length);
    Term x = c.add("MatMul", {c.input(In::input), c.input(In::weights)});
    if (const Term bias = c.input(In::bias)) x = c.add("Add", {x, bias});
    attend(c, attributes_, x, sizes_,
           {.mask = c.input(In::mask_index), .bias = c.input(In::attention_bias)},
           c.input(In::past));
  }

 private:
  detail::AttentionAttributes attributes_;
  std::optional<std::vector<std::int64_t>> sizes_;
};

/// PackedAttention with quantized input and weights. Scales and zero points are one number; those
/// of weights are one or one per column.
class QuantizedAttention final : public detail::ComposedOperator {
  using View = nodes::QAttention;
  using In = View::In;

 public:
  explicit QuantizedAttention(const View& view) : attributes_(attributes_of(view)) {}

 protected:
  void compose(Composition& c) const override {
    const Term scale = c.add("Mul", {c.input(In::input_scale), c.input(In::weight_scale)});
    const Term sums =
        c.add("MatMulInteger", {c.input(In::input), c.input(In::weight),
                                c.input(In::input_zero_point), c.input(In::weight_zero_point)});
    Term x = c.add("Cast", {sums}, {{"to", std::int64_t(c.desc(scale).dtype)}});
    x = c.add("Add", {c.add("Mul", {x, scale}), c.input(In::bias)});
    attend(c, attributes_, x, {}, {.mask = c.input(In::mask_index)}, c.input(In::past));
  }

 private:
  detail::AttentionAttributes attributes_;
};

}  // namespace

void register_packed_attention(OperatorRegistry& registry) {
  registry.add<PackedAttention, nodes::Attention>();
  registry.add<QuantizedAttention, nodes::QAttention>();
}

}  // namespace d5::ops
