// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "level0_ops/operator/composed_operator.hpp"

// What com.microsoft's attentions are composed of around ONNX's Attention.
namespace d5::detail {

/// What their attributes say.
struct AttentionAttributes {
  std::int64_t heads = 0;
  std::optional<float> scale;  ///< nothing, or 0: 1 / sqrt(size of a head)
  bool causal = false;
  float hidden = -10000;  ///< what is added to the scores of hidden keys
};

/// Q, K and V, packed (B x L x H) or with four dimensions, and what may be left out.
struct AttentionTerms {
  Term query = {}, key = {}, value = {};
  Term mask = {};  ///< of keys; int32 of any of the forms that `add_attention` names
  Term bias = {};  ///< of scores, broadcast to B x heads x L x keys
  Term past_key = {}, past_value = {};
};

struct AttentionResult {
  Term output, present_key, present_value;  ///< no presents unless they were wanted
};

/// The mask says which of T keys are visible: by how many (B); from where to where (2 B: ends, then
/// begins); by a number above 0 for each (B x T, B x L x T; B x 1 x M x M of a longest sequence).
/// Throws: ShapeError for another; Unsupported for the form of packed samples (3 B + 2).
[[nodiscard]] AttentionResult add_attention(Composition& c, const AttentionAttributes& attributes,
                                            AttentionTerms terms, bool wants_present);

/// `x` cut along `axis` into pieces of `sizes`.
[[nodiscard]] std::vector<Term> split(Composition& c, Term x, std::int64_t axis,
                                      const std::vector<std::int64_t>& sizes);

/// Throws: Unsupported if the input is given: a cache that is shared between steps.
void refuse_shared_cache(const InferContext& context, std::size_t input);

}  // namespace d5::detail
