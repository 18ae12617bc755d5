// SPDX-License-Identifier: Apache-2.0
// com.microsoft's MultiHeadAttention: attention of projected queries, keys and values, as written
// by onnxruntime.transformers.
#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/level0_ops/operator/operator_registry.hpp"
#include "d5/onnx/nodes.hpp"
#include "level0_ops/kernels/attention/attention_steps.hpp"

namespace d5::ops {
namespace {

using MultiHeadAttentionView = onnx::nodes::microsoft::MultiHeadAttention;
using In = MultiHeadAttentionView::In;
using Out = MultiHeadAttentionView::Out;
using detail::AttentionTerms;
using detail::Composition;
using detail::Term;

/// Shapes: query B x L x H, key B x S x H, value B x S x Hv; or query B x L x heads x 3 x D with
/// all three; or key B x S x heads x 2 x D with keys and values; or key and value B x heads x S x
/// D, a cache. Output B x L x Hv, presents B x heads x (past + S) x D.
class MultiHeadAttention final : public detail::ComposedOperator {
 public:
  explicit MultiHeadAttention(const MultiHeadAttentionView& view)
      : attributes_{.heads = view.num_heads(),
                    .scale = view.scale(),
                    .causal = view.unidirectional() != 0,
                    .hidden = view.mask_filter_value().value_or(-10000)} {
    if (attributes_.heads >= 1) return;
    throw ValueError(fmt::format("{}: num_heads is {}, expected 1 or more",
                                 onnx::describe(view.node()), attributes_.heads));
  }
  Places gradients() const override {
    return {In::query,          In::key,      In::value,     In::bias,
            In::attention_bias, In::past_key, In::past_value};
  }

 protected:
  void compose(Composition& c) const override {
    const InferContext& context = c.context();
    detail::refuse_shared_cache(context, In::past_sequence_length);
    detail::refuse_shared_cache(context, In::cache_indirection);
    if (context.wants_output(Out::qk)) {
      throw Unsupported(fmt::format("{}: its scores are not supported; omit output {}",
                                    context.who(), int(Out::qk)));
    }
    AttentionTerms terms = unpacked(c);
    terms.mask = c.input(In::key_padding_mask);
    terms.bias = c.input(In::attention_bias);
    terms.past_key = c.input(In::past_key);
    terms.past_value = c.input(In::past_value);
    const bool is_cache = c.shape(terms.key).rank() == 4;
    if (const Term bias = c.input(In::bias)) add_bias(c, terms, bias, is_cache);
    if (is_cache) terms.query = heads_first(c, terms.query);
    const bool wants_present =
        context.wants_output(Out::present_key) || context.wants_output(Out::present_value);
    const auto result = detail::add_attention(c, attributes_, terms, wants_present);
    c.output(Out::output, is_cache ? heads_last(c, result.output) : result.output);
    if (!wants_present) return;
    c.output(Out::present_key, result.present_key);
    c.output(Out::present_value, result.present_value);
  }

 private:
  AttentionTerms unpacked(Composition& c) const {
    const Term query = c.input(In::query), key = c.input(In::key), value = c.input(In::value);
    if (!key && c.shape(query).rank() == 5) {
      const auto parts = pieces(c, query, 3);
      return {.query = parts[0], .key = parts[1], .value = parts[2]};
    }
    if (key && !value && c.shape(key).rank() == 5) {
      const auto parts = pieces(c, key, 2);
      return {.query = query, .key = parts[0], .value = parts[1]};
    }
    if (!key || !value) {
      throw ShapeError(
          fmt::format("{}: query is {}, and key or value is left out; expected five dimensions of "
                      "what holds them",
                      c.context().who(), to_string(c.shape(query))));
    }
    const std::size_t rank = c.shape(key).rank();  // 4: a cache
    if (c.shape(query).rank() != 3 || (rank != 3 && rank != 4) || c.shape(value).rank() != rank) {
      throw ShapeError(
          fmt::format("{}: query is {}, key is {}, value is {}; expected three dimensions of each, "
                      "or four of key and value, which are a cache then",
                      c.context().who(), to_string(c.shape(query)), to_string(c.shape(key)),
                      to_string(c.shape(value))));
    }
    return {.query = query, .key = key, .value = value};
  }
  /// Splits B x S x heads x count x D to `count` tensors B x S x (heads D).
  static std::vector<Term> pieces(Composition& c, Term packed, std::int64_t count) {
    const Shape x = c.shape(packed);
    auto parts = detail::split(c, packed, 3, std::vector<std::int64_t>(std::size_t(count), 1));
    for (Term& part : parts) {
      part = c.add("Reshape", {part, c.integers({x[0], x[1], x[2] * x[4]})});
    }
    return parts;
  }
  /// Adds the bias, except to caches, which include it already.
  static void add_bias(Composition& c, AttentionTerms& terms, Term bias, bool to_query_alone) {
    const auto width = [&](Term x) { return c.shape(x)[c.shape(x).rank() - 1]; };
    if (to_query_alone) {
      const std::int64_t own = width(terms.query);
      bias = c.add("Slice", {bias, c.integers({0}), c.integers({own})});
      terms.query = c.add("Add", {terms.query, bias});
      return;
    }
    const auto parts =
        detail::split(c, bias, 0, {width(terms.query), width(terms.key), width(terms.value)});
    terms.query = c.add("Add", {terms.query, parts[0]});
    terms.key = c.add("Add", {terms.key, parts[1]});
    terms.value = c.add("Add", {terms.value, parts[2]});
  }
  static Term turned(Composition& c, Term x) {
    return c.add("Transpose", {x}, {{"perm", std::vector<std::int64_t>{0, 2, 1, 3}}});
  }
  [[nodiscard]] Term heads_first(Composition& c, Term x) const {
    return turned(c, c.add("Reshape", {x, c.integers({0, 0, attributes_.heads, -1})}));
  }
  [[nodiscard]] static Term heads_last(Composition& c, Term x) {
    return c.add("Reshape", {turned(c, x), c.integers({0, 0, -1})});
  }

  detail::AttentionAttributes attributes_;
};

}  // namespace

void register_multi_head_attention(OperatorRegistry& registry) {
  registry.add<MultiHeadAttention, MultiHeadAttentionView>();
}

}  // namespace d5::ops
