// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/attention/attention_steps.hpp"

#include <fmt/format.h>

#include <numeric>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/schema.hpp"

namespace d5::detail {
namespace {

/// Sizes: B samples, L queries after `past` keys, and T keys.
struct MaskSizes {
  std::int64_t batch, queries, past, total;
};

/// The int32 range [0, count).
Term places(Composition& c, std::int64_t count) {
  std::vector<std::int32_t> values(std::size_t(count), 0);
  std::iota(values.begin(), values.end(), 0);
  return c.constant(Tensor::vector(values));
}

/// Visibility of each key, broadcastable to B x heads x L x T.
Term visible(Composition& c, Term mask, const MaskSizes& s) {
  const Shape shape = c.shape(mask);
  const Term none = c.constant(Tensor::scalar<std::int32_t>(0));
  const auto given = [&](Term numbers, std::vector<std::int64_t> axes) {
    return c.add("Unsqueeze", {c.add("Greater", {numbers, none}), c.integers(axes)});
  };
  const auto as_column = [&](Term list) {
    return c.add("Reshape", {list, c.integers({s.batch, 1, 1, 1})});
  };
  if (shape == Shape{s.batch}) return c.add("Less", {places(c, s.total), as_column(mask)});
  if (shape == Shape{2 * s.batch}) {
    const auto bounds = split(c, mask, 0, {s.batch, s.batch});
    const Term keys = places(c, s.total);
    return c.add("And", {c.add("Less", {keys, as_column(bounds[0])}),
                         c.add("GreaterOrEqual", {keys, as_column(bounds[1])})});
  }
  if (shape == Shape{s.batch, s.total}) return given(mask, {1, 2});
  if (shape == Shape{s.batch, s.queries, s.total}) return given(mask, {1});
  if (shape.rank() == 4 && shape[0] == s.batch && shape[1] == 1 && shape[2] == shape[3] &&
      shape[3] >= s.total) {
    const Term part =
        c.add("Slice", {mask, c.integers({s.past, 0}), c.integers({s.past + s.queries, s.total}),
                        c.integers({2, 3})});
    return c.add("Greater", {part, none});
  }
  if (shape == Shape{3 * s.batch + 2}) {
    throw Unsupported(
        fmt::format("{}: the mask is {}, which is the form of packed samples; "
                    "expected one of batch x keys",
                    c.context().who(), to_string(shape)));
  }
  throw ShapeError(fmt::format("{}: the mask is {}, expected {} lengths, {} ends and begins, or {}",
                               c.context().who(), to_string(shape), s.batch, 2 * s.batch,
                               to_string(Shape{s.batch, s.total})));
}

/// The term to add to the scores.
Term hidden_keys(Composition& c, Term mask, const MaskSizes& s, float hidden, DType type) {
  return c.add("Where", {visible(c, mask, s), c.number(0, type), c.number(hidden, type)});
}

}  // namespace

std::vector<Term> split(Composition& c, Term x, std::int64_t axis,
                        const std::vector<std::int64_t>& sizes) {
  return c.add(sizes.size(), "Split", {x, c.integers(sizes)}, {{"axis", axis}});
}

void refuse_shared_cache(const InferContext& context, std::size_t input) {
  if (!context.has_input(input)) return;
  throw Unsupported(
      fmt::format("{}: {} is given, for a cache that past and present share; omit it, and give the "
                  "past as it is",
                  context.who(), onnx::describe_input(context.node(), input)));
}

AttentionResult add_attention(Composition& c, const AttentionAttributes& attributes,
                              AttentionTerms terms, bool wants_present) {
  const Shape query = c.shape(terms.query), key = c.shape(terms.key);
  const bool packed = query.rank() == 3;
  if (terms.mask) {
    if ((query.rank() != 3 && query.rank() != 4) || key.rank() != query.rank()) {
      throw ShapeError(
          fmt::format("{}: the queries are {} and the keys {}, expected three or four "
                      "dimensions each",
                      c.context().who(), to_string(query), to_string(key)));
    }
    const std::int64_t past =
        terms.past_key && c.shape(terms.past_key).rank() == 4 ? c.shape(terms.past_key)[2] : 0;
    const MaskSizes sizes{query[0], query[packed ? 1 : 2], past, past + key[packed ? 1 : 2]};
    const Term mask =
        hidden_keys(c, terms.mask, sizes, attributes.hidden, c.desc(terms.query).dtype);
    terms.bias = terms.bias ? c.add("Add", {terms.bias, mask}) : mask;
  }
  Composition::Attributes own{{"is_causal", std::int64_t{attributes.causal}}};
  if (attributes.scale && *attributes.scale != 0) own["scale"] = *attributes.scale;
  if (packed) own["q_num_heads"] = own["kv_num_heads"] = attributes.heads;
  const auto result = c.add(
      wants_present ? 3 : 1, "Attention",
      {terms.query, terms.key, terms.value, terms.bias, terms.past_key, terms.past_value}, own);
  if (!wants_present) return {result[0], {}, {}};
  return {result[0], result[1], result[2]};
}

}  // namespace d5::detail
