// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "d5/level0_ops/operator/infer_context.hpp"

namespace d5::detail {

/// Where a tensor holds the matrices of its heads, in elements.
struct HeadLayout {
  std::int64_t sample, head, row;  ///< distances between neighbours
  [[nodiscard]] std::int64_t offset(std::int64_t b, std::int64_t h) const {
    return b * sample + h * head;
  }
};

/// The sizes of scaled dot product attention.
///
/// Shapes: Q is B x Hq x L x D, K is B x Hkv x S x D, V is B x Hkv x S x Dv, Y is B x Hq x L x Dv;
/// past keys and values are B x Hkv x P x D and x Dv. Where Q has three dimensions, Q, K, V and Y
/// are packed: B x L x (Hq D) and so on. Each head of K and V serves Hq / Hkv neighbours of Q's.
struct AttentionSizes {
  std::int64_t batch = 0, q_heads = 0, kv_heads = 0;
  std::int64_t queries = 0, past = 0, keys = 0;
  std::int64_t size = 0, value_size = 0;  ///< of a head: D, Dv
  bool packed = false;

  /// Keys all told.
  [[nodiscard]] std::int64_t total() const { return past + keys; }
  /// Heads of Q that a head of K serves.
  [[nodiscard]] std::int64_t group() const { return kv_heads == 0 ? 0 : q_heads / kv_heads; }
  /// Of Q, K, V or Y: `heads` matrices of `rows` x `columns` a sample.
  [[nodiscard]] HeadLayout layout(std::int64_t heads, std::int64_t rows,
                                  std::int64_t columns) const {
    if (packed) return {heads * rows * columns, columns, heads * columns};
    return cache_layout(heads, rows, columns);
  }
  /// Of past and present keys and values, which are never packed.
  [[nodiscard]] static HeadLayout cache_layout(std::int64_t heads, std::int64_t rows,
                                               std::int64_t columns) {
    return {heads * rows * columns, rows * columns, columns};
  }
  [[nodiscard]] Shape output_shape() const {
    if (packed) return {batch, queries, q_heads * value_size};
    return {batch, q_heads, queries, value_size};
  }
  /// Of what each query has for each key.
  [[nodiscard]] Shape scores_shape() const { return {batch, q_heads, queries, total()}; }
};

/// Heads where Q, K and V are packed; the shapes tell them otherwise.
struct PackedHeads {
  std::optional<std::int64_t> query, key_value;
};

/// Of inputs 0 to 2, which are Q, K and V; without a past.
/// Throws: ShapeError, ValueError if they do not fit each other.
[[nodiscard]] AttentionSizes attention_sizes(const InferContext& context, PackedHeads heads);

}  // namespace d5::detail
