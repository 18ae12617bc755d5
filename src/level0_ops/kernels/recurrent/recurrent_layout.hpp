// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "d5/core/tensor/tensor.hpp"
#include "d5/level0_ops/operator/infer_context.hpp"

namespace d5::detail {

/// The number of steps of each sample.
struct SampleLengths {
  const std::int32_t* given;  ///< null: all have `steps`
  std::int64_t steps;
  std::int64_t operator[](std::int64_t sample) const { return given ? given[sample] : steps; }
};

/// Layout of the tensors of RNN, GRU and LSTM.
///
/// Shapes: with G gates and D directions, X is S x B x I, W is D x GH x I, R is D x GH x H, B is
/// D x 2GH, initial_h and initial_c are D x B x H, P is D x 3H; Y is S x D x B x H, Y_h and Y_c are
/// D x B x H.
/// `layout` 1 puts the batch first: B x S x I, B x D x H, B x S x D x H.
struct RecurrentLayout {
  std::int64_t steps = 0, batch = 0, inputs = 0, hidden = 0, directions = 1;
  bool batch_first = false, reversed = false;

  [[nodiscard]] Shape output_shape() const;
  [[nodiscard]] Shape state_shape() const;

  /// The time index of direction `d` in step `s` of a sample of `length` steps.
  [[nodiscard]] std::int64_t time_of(std::int64_t d, std::int64_t s, std::int64_t length) const {
    return reversed || d == 1 ? length - 1 - s : s;
  }
  /// The row of X at time `t` of sample `b`.
  [[nodiscard]] std::int64_t row(std::int64_t t, std::int64_t b) const {
    return batch_first ? b * steps + t : t * batch + b;
  }
  /// An offset in Y.
  [[nodiscard]] std::int64_t output_offset(std::int64_t t, std::int64_t d, std::int64_t b) const {
    return (batch_first ? (b * steps + t) * directions + d : (t * directions + d) * batch + b) *
           hidden;
  }
  /// An offset in initial_h, initial_c, Y_h and Y_c.
  [[nodiscard]] std::int64_t state_offset(std::int64_t d, std::int64_t b) const {
    return (batch_first ? b * directions + d : d * batch + b) * hidden;
  }

  /// The lengths from `sequence_lens`, which may be null. Throws: ValueError for a length outside 0
  /// to `steps`.
  [[nodiscard]] SampleLengths lengths(const Tensor* sequence_lens, const onnx::Node& node) const;
};

/// The attributes that determine the layout.
class RecurrentAttributes {
 public:
  /// Throws: ValueError for an unknown direction.
  template <class View>
  explicit RecurrentAttributes(const View& view)
      : batch_first_(view.layout() != 0), hidden_size_(view.hidden_size()) {
    set_direction(view.direction(), view.node());
  }

  [[nodiscard]] std::int64_t directions() const { return directions_; }
  /// Throws: ShapeError if the inputs do not match.
  [[nodiscard]] RecurrentLayout resolve(const InferContext& context, std::int64_t gates) const;

 private:
  void set_direction(const std::string& direction, const onnx::Node& node);

  std::int64_t directions_ = 1;
  bool reversed_ = false, batch_first_ = false;
  std::optional<std::int64_t> hidden_size_;
};

}  // namespace d5::detail
