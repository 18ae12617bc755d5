// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "level0_ops/kernels/attention/attention_sizes.hpp"
#include "level0_ops/kernels/matrix/matrix_product.hpp"

namespace d5::detail {

/// Consecutive queries of a head of a sample.
struct QueryTile {
  std::int64_t b, h, first, count;
};

/// A sequence of keys and values: `count` rows per head, beginning with key `first`.
template <class A>
struct KeyRange {
  std::int64_t first, count;
  HeadLayout key_layout, value_layout;
  A *key, *value;
};

/// The past keys and the new ones. `K` and `V` may be null if absent or unwanted.
template <class A>
[[nodiscard]] std::array<KeyRange<A>, 2> key_ranges(const AttentionSizes& s, A* past_key,
                                                    A* past_value, A* key, A* value) {
  return {{{0, s.past, s.cache_layout(s.kv_heads, s.past, s.size),
            s.cache_layout(s.kv_heads, s.past, s.value_size), past_key, past_value},
           {s.past, s.keys, s.layout(s.kv_heads, s.keys, s.size),
            s.layout(s.kv_heads, s.keys, s.value_size), key, value}}};
}

/// The matrices of attention, and their two products.
template <class A>
struct AttentionMatrices {
  const AttentionSizes& s;
  const A* query;
  std::array<KeyRange<const A>, 2> ranges;

  [[nodiscard]] MatrixView<const A> queries(const QueryTile& t) const {
    const HeadLayout at = s.layout(s.q_heads, s.queries, s.size);
    return {query + at.offset(t.b, t.h) + t.first * at.row, t.count, s.size, at.row};
  }
  /// Rows of Y, or of its gradient.
  template <class U>
  [[nodiscard]] MatrixView<U> outputs(U* y, const QueryTile& t) const {
    const HeadLayout at = s.layout(s.q_heads, s.queries, s.value_size);
    return {y + at.offset(t.b, t.h) + t.first * at.row, t.count, s.value_size, at.row};
  }

  /// scores = scale Q K^T. Shapes: `scores` is count x total.
  void score(const QueryTile& t, A scale, A* scores) const {
    for (const auto& range : ranges) {
      const HeadLayout at = range.key_layout;
      matrix_product<A>(
          queries(t),
          {range.key + at.offset(t.b, t.h / s.group()), s.size, range.count, at.row, true},
          {scores + range.first, t.count, range.count, s.total()}, scale);
    }
  }
  /// Y = P V. Shapes: `p` is count x total.
  void weigh(const QueryTile& t, const A* p, A* y) const {
    for (const auto& range : ranges) {
      const HeadLayout at = range.value_layout;
      matrix_product<A>(
          {p + range.first, t.count, range.count, s.total()},
          {range.value + at.offset(t.b, t.h / s.group()), range.count, s.value_size, at.row},
          outputs(y, t), A(1), range.first == 0 && &range == &ranges[0] ? A(0) : A(1));
    }
  }
};

/// Softmax of a row of scores, computed in type P. A row of minus infinities becomes zeros.
template <class P, class A>
void softmax_row(A* row, std::int64_t count) {
  using C = Arithmetic<P>;
  const auto at = [&](std::int64_t i) { return C(P(C(row[i]))); };
  C top = -std::numeric_limits<C>::infinity();
  for (std::int64_t i = 0; i < count; ++i) {
    if (const C value = at(i); value > top || std::isnan(value)) top = value;
  }
  const bool empty = top == -std::numeric_limits<C>::infinity();
  C sum = 0;
  for (std::int64_t i = 0; i < count && !empty; ++i) sum += std::exp(at(i) - top);
  for (std::int64_t i = 0; i < count; ++i) {
    row[i] = empty ? A(0) : A(C(P(std::exp(at(i) - top) / sum)));
  }
}

template <class A>
using SoftmaxRow = void (*)(A* row, std::int64_t count);

}  // namespace d5::detail
