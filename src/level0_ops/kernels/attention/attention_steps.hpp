// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "level0_ops/operator/composed_operator.hpp"

// Building blocks of com.microsoft's attention operators around ONNX's Attention.
namespace d5::detail {

/// Attributes of the attention operators.
struct AttentionAttributes {
  std::int64_t heads = 0;
  std::optional<float> scale;  ///< default, or 0: 1 / sqrt(size of a head)
  bool causal = false;
  float hidden = -10000;  ///< added to the scores of hidden keys
};

/// Q, K and V, packed (B x L x H) or with four dimensions, and optional inputs.
struct AttentionTerms {
  Term query = {}, key = {}, value = {};
  Term mask = {};  ///< mask of keys; int32 in a form listed at `add_attention`
  Term bias = {};  ///< added to scores, broadcast to B x heads x L x keys
  Term past_key = {}, past_value = {};
};

struct AttentionResult {
  Term output, present_key, present_value;  ///< presents only if wanted
};

/// Forms of the mask for T keys: number of visible keys (B); range of visible keys (2 B: ends, then
/// begins); a positive number per visible key (B x T, B x L x T; B x 1 x M x M with maximal length
/// M). Throws: ShapeError for another form; Unsupported for that of packed samples (3 B + 2).
[[nodiscard]] AttentionResult add_attention(Composition& c, const AttentionAttributes& attributes,
                                            AttentionTerms terms, bool wants_present);

/// Splits `x` along `axis` into pieces of `sizes`.
[[nodiscard]] std::vector<Term> split(Composition& c, Term x, std::int64_t axis,
                                      const std::vector<std::int64_t>& sizes);

/// Throws: Unsupported if the input, a cache shared between steps, is given.
void refuse_shared_cache(const InferContext& context, std::size_t input);

}  // namespace d5::detail
