// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "d5/level0_ops/operator/plan_context.hpp"
#include "level0_ops/kernels/arithmetic_copy.hpp"
#include "level0_ops/kernels/attention/attention_products.hpp"

namespace d5::detail {

/// Window of the keys visible to a query at position p, in addition to the mask: from p - left to p
/// + right. Query i is at position i + offset, after `offset` older keys.
struct AttentionWindow {
  std::optional<std::int64_t> left, right;  ///< none: no bound. At most the number of keys
  bool pads = false;                        ///< a shorter mask hides the remaining keys
};

/// Indices of the node's inputs that determine the visible keys.
struct MaskInputs {
  std::size_t mask, lengths;
};

/// Layout of the mask, broadcast to B x Hq x L x S.
struct MaskLayout {
  std::int64_t sample = 0, head = 0, query = 0, key = 0;  ///< strides; 0 if broadcast
  std::int64_t width = 0;                                 ///< number of keys in the mask

  /// Throws: ShapeError if it cannot be broadcast.
  [[nodiscard]] static MaskLayout of(const InferContext& context, std::size_t mask,
                                     const AttentionSizes& s, bool pads);
  [[nodiscard]] std::int64_t row(const QueryTile& t, std::int64_t i) const {
    return t.b * sample + t.h * head + i * query;
  }
};

/// Throws: ValueError unless all are 0 to `most`.
void expect_lengths(std::span<const std::int64_t> lengths, std::int64_t most,
                    const onnx::Node& node);

/// Adds the mask to the scores, and minus infinity for invisible keys.
template <class A>
class AttentionMask {
 public:
  static constexpr A kHidden = -std::numeric_limits<A>::infinity();

  /// `scratch`: as `InputAs`.
  AttentionMask(const InferContext& context, const AttentionSizes& s, const AttentionWindow& window,
                MaskInputs inputs, std::int64_t& scratch)
      : s_(s), window_(window), inputs_(inputs), values_(context, inputs.mask, scratch) {
    if (!context.has_input(inputs.mask)) return;
    layout_ = MaskLayout::of(context, inputs.mask, s, window.pads);
    selects_ = context.dtype(inputs.mask) == DType::boolean;
  }

  /// Inputs of a run.
  struct Given {
    const A* bias;                ///< null: none
    const std::int64_t* lengths;  ///< number of keys without padding, per sample; null: all
  };

  /// Throws: ValueError for a length that is not 0 to S.
  template <class Context>
  [[nodiscard]] Given read(const Context& context, A* scratch) const {
    Given given{values_.read(context, scratch), nullptr};
    if (selects_) {
      // Converted to 0 and 1 in scratch.
      A* bias = const_cast<A*>(given.bias);
      const std::int64_t count = context.input(inputs_.mask).elements();
      for (std::int64_t i = 0; i < count; ++i) bias[i] = bias[i] != 0 ? A(0) : kHidden;
    }
    if (context.has_input(inputs_.lengths)) {
      given.lengths = context.input(inputs_.lengths).template data<std::int64_t>();
      expect_lengths({given.lengths, std::size_t(s_.batch)}, s_.total(), context.node());
    }
    return given;
  }

  /// Adds to the scores of query `i`, one per key. False if no key is visible.
  bool add(const Given& given, const QueryTile& t, std::int64_t i, A* scores) const {
    const auto [begin, end] = visible(given, t.b, i);
    std::fill(scores, scores + begin, kHidden);
    std::fill(scores + end, scores + s_.total(), kHidden);
    if (!given.bias) return begin < end;
    const A* bias = given.bias + layout_.row(t, i);
    bool any = false;
    for (std::int64_t j = begin; j < end; ++j) {
      const A b = bias[j * layout_.key];
      any = any || b != kHidden;
      scores[j] = b == kHidden ? kHidden : scores[j] + b;  // also hides infinities and NaN
    }
    return any;
  }

  /// Calls `f(j, m)` for every key visible to query `i`; m is the index of the mask's element.
  template <class F>
  void for_each_visible(const Given& given, const QueryTile& t, std::int64_t i, F&& f) const {
    const auto [begin, end] = visible(given, t.b, i);
    const std::int64_t row = layout_.row(t, i);
    for (std::int64_t j = begin; j < end; ++j) {
      const std::int64_t m = row + j * layout_.key;
      if (!given.bias || given.bias[m] != kHidden) f(j, m);
    }
  }

 private:
  struct Interval {
    std::int64_t begin, end;
  };
  [[nodiscard]] Interval visible(const Given& given, std::int64_t b, std::int64_t i) const {
    const std::int64_t length = given.lengths ? given.lengths[b] : s_.total();
    const std::int64_t position = i + (given.lengths ? length - s_.queries : s_.past);
    std::int64_t end = given.bias ? std::min(length, layout_.width) : length;
    if (window_.right) end = std::min(end, position + *window_.right + 1);
    end = std::max<std::int64_t>(end, 0);
    const std::int64_t begin = window_.left ? position - *window_.left : 0;
    return {std::clamp<std::int64_t>(begin, 0, end), end};
  }

  const AttentionSizes& s_;
  AttentionWindow window_;
  MaskInputs inputs_;
  InputAs<A> values_;
  MaskLayout layout_;
  bool selects_ = false;
};

}  // namespace d5::detail
