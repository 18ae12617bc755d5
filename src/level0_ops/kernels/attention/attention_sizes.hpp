// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "d5/level0_ops/operator/infer_context.hpp"

namespace d5::detail {

/// Layout of the heads' matrices in a tensor, in elements.
struct HeadLayout {
  std::int64_t sample, head, row;  ///< strides
  [[nodiscard]] std::int64_t offset(std::int64_t b, std::int64_t h) const {
    return b * sample + h * head;
  }
};

/// The sizes of scaled dot product attention.
///
/// Shapes: Q is B x Hq x L x D, K is B x Hkv x S x D, V is B x Hkv x S x Dv, Y is B x Hq x L x Dv;
/// past keys and values are B x Hkv x P x D and x Dv. If Q has three dimensions, Q, K, V and Y are
/// packed: B x L x (Hq D) and so on. Each head of K and V serves Hq / Hkv consecutive heads of Q.
struct AttentionSizes {
  std::int64_t batch = 0, q_heads = 0, kv_heads = 0;
  std::int64_t queries = 0, past = 0, keys = 0;
  std::int64_t size = 0, value_size = 0;  ///< size of a head: D, Dv
  bool packed = false;

  /// Total number of keys.
  [[nodiscard]] std::int64_t total() const { return past + keys; }
  /// Number of heads of Q per head of K.
  [[nodiscard]] std::int64_t group() const { return kv_heads == 0 ? 0 : q_heads / kv_heads; }
  /// Layout of Q, K, V or Y: `heads` matrices of `rows` x `columns` per sample.
  [[nodiscard]] HeadLayout layout(std::int64_t heads, std::int64_t rows,
                                  std::int64_t columns) const {
    if (packed) return {heads * rows * columns, columns, heads * columns};
    return cache_layout(heads, rows, columns);
  }
  /// Layout of past and present keys and values, which are never packed.
  [[nodiscard]] static HeadLayout cache_layout(std::int64_t heads, std::int64_t rows,
                                               std::int64_t columns) {
    return {heads * rows * columns, rows * columns, columns};
  }
  [[nodiscard]] Shape output_shape() const {
    if (packed) return {batch, queries, q_heads * value_size};
    return {batch, q_heads, queries, value_size};
  }
  /// The shape of the scores.
  [[nodiscard]] Shape scores_shape() const { return {batch, q_heads, queries, total()}; }
};

/// Numbers of heads of packed Q, K and V; otherwise determined by the shapes.
struct PackedHeads {
  std::optional<std::int64_t> query, key_value;
};

/// Sizes from inputs 0 to 2, Q, K and V, without a past. Throws: ShapeError, ValueError if they do
/// not match.
[[nodiscard]] AttentionSizes attention_sizes(const InferContext& context, PackedHeads heads);

}  // namespace d5::detail
