// SPDX-License-Identifier: Apache-2.0
// com.microsoft's GroupQueryAttention: attention with a cache and several query heads per key head,
// as in ONNX Runtime's large language models.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "d5/onnx/schema.hpp"
#include "level0_ops/kernels/attention/attention_steps.hpp"
#include "level0_ops/kernels/expected_shape.hpp"

namespace d5::ops {
namespace {

using GroupQueryAttentionView = onnx::nodes::microsoft::GroupQueryAttention;
using In = GroupQueryAttentionView::In;
using Out = GroupQueryAttentionView::Out;
using detail::Composition;
using detail::Term;

/// B samples of L new tokens, P positions in the past cache, T in the present one; heads of `size`
/// elements.
struct Sizes {
  std::int64_t batch = 0, length = 0, past = 0, total = 0, size = 0;
  /// Whether these are the first tokens: samples begin at 0, and shorter ones are padded at the
  /// end.
  [[nodiscard]] bool is_prompt(std::int64_t whole) const { return length == whole; }
};

/// Shapes: query B x L x (N D), key and value B x L x (Nkv D), or all three concatenated in query;
/// past B x Nkv x P x D; present B x Nkv x T x D with T the larger of P and total_sequence_length;
/// seqlens_k B, the last position of each sample; caches of cosines and sines as in
/// RotaryEmbedding. Source: Ainslie et al., "GQA" (2023).
class GroupQueryAttention final : public detail::ComposedOperator {
 public:
  explicit GroupQueryAttention(const GroupQueryAttentionView& view)
      : heads_(view.num_heads()),
        kv_heads_(view.kv_num_heads()),
        scale_(view.scale().value_or(0)),
        softcap_(view.softcap().value_or(0)),
        window_(view.local_window_size()),
        causal_(view.causal() != 0),
        turns_(view.do_rotary().value_or(0) != 0),
        interleaved_(view.rotary_interleaved().value_or(0)) {
    const std::string who = onnx::describe(view.node());
    if (heads_ < 1 || kv_heads_ < 1 || heads_ % kv_heads_ != 0) {
      throw ValueError(fmt::format(
          "{}: num_heads is {} and kv_num_heads {}, expected a multiple of the other, 1 or more",
          who, heads_, kv_heads_));
    }
    const bool quantizes = view.k_quant_type() != "NONE" || view.v_quant_type() != "NONE";
    if (quantizes || view.smooth_softmax() > 0 || view.qk_output() != 0 ||
        view.sliding_window_cache() != 0) {
      throw Unsupported(
          fmt::format("{}: expected no quantized or sliding cache, no smooth softmax and "
                      "no output of scores",
                      who));
    }
  }
  Places gradients() const override {
    return {In::query, In::key, In::value, In::past_key, In::past_value, In::attention_bias};
  }

  std::vector<ValueDesc> infer(const InferContext& context) const override {
    if (!context.integers(In::total_sequence_length).is_untold())
      return ComposedOperator::infer(context);
    const TensorDesc& query = context.input(In::query);
    const std::int64_t size = head_size(context);
    const Shape cache{query.shape[0], kv_heads_, kUnknownDim, size};
    return {TensorDesc{query.dtype, {query.shape[0], query.shape[1], heads_ * size}},
            TensorDesc{query.dtype, cache}, TensorDesc{query.dtype, cache}};
  }

 protected:
  void compose(Composition& c) const override {
    const InferContext& context = c.context();
    for (const std::size_t i :
         {In::head_sink, In::k_scale, In::v_scale, In::q_norm_weight, In::k_norm_weight}) {
      if (!context.has_input(i)) continue;
      throw Unsupported(fmt::format("{}: {} is given, expected none", context.who(),
                                    onnx::describe_input(context.node(), i)));
    }
    const auto whole = context.integers(In::total_sequence_length);
    if (whole.is_untold() || whole.values().size() != 1) {
      throw ShapeError(fmt::format("{}: total_sequence_length decides sizes; expected one number",
                                   context.who()));
    }
    Sizes s{.size = head_size(context)};
    s.batch = context.shape(In::query)[0], s.length = context.shape(In::query)[1];
    if (context.has_input(In::past_key) && context.shape(In::past_key).rank() == 4) {
      s.past = context.shape(In::past_key)[2];
    }
    s.total = std::max(s.past, whole.values()[0]);
    const Shape past{s.batch, kv_heads_, s.past, s.size};
    detail::expect_shape(context, In::past_key, "past_key", past);
    detail::expect_shape(context, In::past_value, "past_value", past);
    if (context.shape(In::seqlens_k).elements() != s.batch) {
      throw ShapeError(fmt::format("{}: seqlens_k is {}, expected {} numbers", context.who(),
                                   to_string(context.shape(In::seqlens_k)), s.batch));
    }
    attend(c, s, s.is_prompt(whole.values()[0]));
  }

 private:
  [[nodiscard]] std::int64_t head_size(const InferContext& context) const {
    const Shape& query = context.shape(In::query);
    const std::int64_t heads = context.has_input(In::key) ? heads_ : heads_ + 2 * kv_heads_;
    if (query.rank() == 3 && query[2] % heads == 0) return query[2] / heads;
    throw ShapeError(
        fmt::format("{}: query is {}, expected three dimensions, the last a multiple of {}",
                    context.who(), to_string(query), heads));
  }

  void attend(Composition& c, const Sizes& s, bool is_prompt) const {
    Term query = c.input(In::query), key = c.input(In::key), value = c.input(In::value);
    if (!key) {
      const auto parts =
          detail::split(c, query, 2, {heads_ * s.size, kv_heads_ * s.size, kv_heads_ * s.size});
      query = parts[0], key = parts[1], value = parts[2];
    }
    const Term last = c.add("Reshape", {c.input(In::seqlens_k), c.integers({s.batch})});
    const Term lengths = c.add(
        "Add", {c.add("Cast", {last}, {{"to", std::int64_t(DType::int64)}}), c.integers({1})});
    // The position of each sample's first new token.
    const Term first = is_prompt ? c.integers(std::vector<std::int64_t>(std::size_t(s.batch), 0))
                                 : c.add("Sub", {lengths, c.integers({s.length})});
    if (turns_) {
      const Term places = positions(c, s, first);
      query = turned(c, query, places, heads_);
      key = turned(c, key, places, kv_heads_);
    }
    const auto present = [&](std::size_t past, Term fresh) {
      return c.add("TensorScatter", {cache(c, s, past), heads_first(c, fresh, kv_heads_), first});
    };
    const Term keys = present(In::past_key, key), values = present(In::past_value, value);
    Composition::Attributes attributes{{"is_causal", std::int64_t{causal_}}, {"softcap", softcap_}};
    if (scale_ != 0) attributes["scale"] = scale_;
    if (window_ > 0)
      attributes["left_window_size"] = window_ - 1;  // the attribute counts the token itself
    const Term y = c.add("Attention",
                         {heads_first(c, query, heads_), keys, values, c.input(In::attention_bias),
                          Term(), Term(), is_prompt ? Term() : lengths},
                         attributes);
    c.output(Out::output, c.add("Reshape", {swapped(c, y), c.integers({0, 0, -1})}));
    c.output(Out::present_key, keys);
    c.output(Out::present_value, values);
  }

  static Term swapped(Composition& c, Term x) {
    return c.add("Transpose", {x}, {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
  }
  static Term heads_first(Composition& c, Term x, std::int64_t heads) {
    return swapped(c, c.add("Reshape", {x, c.integers({0, 0, heads, -1})}));
  }
  /// The past cache, extended to T tokens.
  [[nodiscard]] Term cache(Composition& c, const Sizes& s, std::size_t past) const {
    const Term given = c.input(past);
    const Shape room{s.batch, kv_heads_, s.total - s.past, s.size};
    if (room[2] == 0) return given;
    const Term zeros = c.constant(Tensor::zeros(c.desc(c.input(In::query)).dtype, room));
    if (!given) return zeros;
    return c.add("Concat", {given, zeros}, {{"axis", std::int64_t{2}}});
  }
  static Term positions(Composition& c, const Sizes& s, Term first) {
    if (const Term given = c.input(In::position_ids)) return given;
    std::vector<std::int64_t> steps(std::size_t(s.length), 0);
    std::iota(steps.begin(), steps.end(), 0);
    return c.add("Add", {c.add("Unsqueeze", {first, c.integers({1})}), c.integers(steps)});
  }
  [[nodiscard]] Term turned(Composition& c, Term x, Term places, std::int64_t heads) const {
    const Term cos = c.input(In::cos_cache), sin = c.input(In::sin_cache);
    if (!cos || !sin || c.shape(cos).rank() != 2) {
      throw ShapeError(fmt::format("{}: do_rotary needs cos_cache and sin_cache of two dimensions",
                                   c.context().who()));
    }
    return c.add("RotaryEmbedding", {x, cos, sin, places},
                 {{"num_heads", heads},
                  {"interleaved", interleaved_},
                  {"rotary_embedding_dim", 2 * c.shape(cos)[1]}});
  }

  std::int64_t heads_, kv_heads_;
  float scale_, softcap_;
  std::int64_t window_;
  bool causal_, turns_;
  std::int64_t interleaved_;
};

}  // namespace

void register_group_query_attention(OperatorRegistry& registry) {
  registry.add<GroupQueryAttention, GroupQueryAttentionView>();
}

}  // namespace d5::ops
