// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "d5/level0_ops/operator/op_context.hpp"
#include "level0_ops/kernels/recycled_tensors.hpp"

namespace d5::detail {

/// Stacks the tensors of a Loop's or Scan's iterations along an axis. Each is copied at once, so
/// that its memory can be reused.
class StackedSlices {
 public:
  /// Begins a stack of `expected` slices, written from the last to the first if `backwards`.
  /// Otherwise it may become longer along axis 0.
  void begin(std::int64_t expected, std::int64_t axis = 0, bool backwards = false);
  /// Throws: ShapeError if it differs from the first in shape or element type.
  void add(const OpContext& context, const Tensor& slice);
  /// Fills missing slices with zeros. At least one slice must exist.
  void fill_up(const OpContext& context);
  [[nodiscard]] bool empty() const { return count_ == 0; }
  /// The stack of all added slices, or of `expected` ones after `fill_up`. At least one slice must
  /// exist.
  const Value& whole(const OpContext& context);

 private:
  void take(const OpContext& context, std::int64_t capacity);

  std::int64_t axis_ = 0, capacity_ = 0, count_ = 0;
  bool backwards_ = false;
  std::size_t place_ = 0;          ///< the axis, counted from the front
  TensorDesc slice_, described_;   ///< descriptions of a slice and of a stack
  std::int64_t of_described_ = 0;  ///< number of slices in `described_`
  RecycledTensors memory_;
  Value whole_;
};

/// Stacks existing values along axis 0. There must be at least one.
[[nodiscard]] Tensor stack_values(const OpContext& context, const std::vector<Value>& slices);

/// The description of a slice of `whole` along `axis`.
[[nodiscard]] TensorDesc slice_desc(const TensorDesc& whole, std::size_t axis);

/// A copy of slice `i` of x, without the axis.
[[nodiscard]] Tensor slice_of(RunServices& services, const Tensor& x, std::size_t axis,
                              std::int64_t i);

/// A copy in memory that counts against the budget.
[[nodiscard]] Tensor copy_of(RunServices& services, const Tensor& x);

}  // namespace d5::detail
