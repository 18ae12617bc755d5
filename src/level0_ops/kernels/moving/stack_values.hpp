// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "d5/level0_ops/operator/op_context.hpp"
#include "level0_ops/kernels/recycled_tensors.hpp"

namespace d5::detail {

/// The tensors that the iterations of a Loop or Scan made, one above the other along an axis; each
/// is copied as it comes, so that what made it may use its memory again.
class StackedSlices {
 public:
  /// A new stack: `expected` slices, written from the last to the first where it is `backwards`.
  /// One that is not may become longer along axis 0.
  void begin(std::int64_t expected, std::int64_t axis = 0, bool backwards = false);
  /// Throws: ShapeError if it differs from the first in shape or element type.
  void add(const OpContext& context, const Tensor& slice);
  /// Zeros in place of those that did not come. There is one slice at least.
  void fill_up(const OpContext& context);
  [[nodiscard]] bool empty() const { return count_ == 0; }
  /// Of as many as came, or `expected` after `fill_up`. There is one slice at least.
  const Value& whole(const OpContext& context);

 private:
  void take(const OpContext& context, std::int64_t capacity);

  std::int64_t axis_ = 0, capacity_ = 0, count_ = 0;
  bool backwards_ = false;
  std::size_t place_ = 0;          ///< the axis, from the front
  TensorDesc slice_, described_;   ///< a slice, and a stack of such
  std::int64_t of_described_ = 0;  ///< slices
  RecycledTensors memory_;
  Value whole_;
};

/// The same of values at hand, along axis 0. There is one at least.
[[nodiscard]] Tensor stack_values(const OpContext& context, const std::vector<Value>& slices);

/// What a slice of `whole` along `axis` is.
[[nodiscard]] TensorDesc slice_desc(const TensorDesc& whole, std::size_t axis);

/// Slice `i` of x, without the axis, in memory of its own.
[[nodiscard]] Tensor slice_of(RunServices& services, const Tensor& x, std::size_t axis,
                              std::int64_t i);

/// The same elements in memory that counts against the budget.
[[nodiscard]] Tensor copy_of(RunServices& services, const Tensor& x);

}  // namespace d5::detail
