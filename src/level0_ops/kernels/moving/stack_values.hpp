// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "d5/level0_ops/op_context.hpp"

namespace d5::detail {

/// The tensors that the iterations of a Loop or Scan made, one above the other along `axis`.
/// Throws: ShapeError if they differ in shape, TypeError in element type. There is at least one.
[[nodiscard]] Tensor stack_values(const OpContext& context, const std::vector<Value>& slices,
                                  std::int64_t axis = 0);

/// Slice `i` of x, without the axis, in memory of its own.
[[nodiscard]] Tensor slice_of(RunServices& services, const Tensor& x, std::size_t axis,
                              std::int64_t i);

}  // namespace d5::detail
