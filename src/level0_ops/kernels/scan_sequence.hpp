// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "d5/core/value.hpp"
#include "d5/level0_ops/op_context.hpp"

namespace d5::detail {

/// A tensor that a Scan walks over, slice by slice.
struct ScannedInput {
  Tensor x;
  std::size_t axis = 0;
  bool backwards = false;
};

/// What is left when every slice was visited.
struct ScanResult {
  std::vector<Value> states;
  std::vector<std::vector<Value>> stacks;  ///< for each further output of the body, what it made
};

/// Slice `i` of x, without the axis, in memory of its own.
[[nodiscard]] Tensor slice_of(const OpContext& context, const Tensor& x, std::size_t axis,
                              std::int64_t i);

/// Runs the graph `body` of the context's node on the first `length` slices. It takes states and
/// one slice of each input; it gives states and slices that are to be stacked.
/// Throws: ShapeError where the body does not fit; ValueError above the budget of iterations.
[[nodiscard]] ScanResult scan_sequence(const OpContext& context, std::vector<Value> states,
                                       std::span<const ScannedInput> inputs, std::int64_t length);

}  // namespace d5::detail
