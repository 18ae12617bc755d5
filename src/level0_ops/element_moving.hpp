// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "d5/core/tensor.hpp"
#include "level0_ops/strided_loop.hpp"

// What operators that only move elements are made of. They work for every element type: by its
// size, with strings apart.
namespace d5::detail {

/// The address of element `i`.
[[nodiscard]] inline void* element(Tensor& tensor, std::int64_t i) {
  return static_cast<std::byte*>(tensor.raw()) + i * std::int64_t(size_of(tensor.dtype()));
}
[[nodiscard]] inline const void* element(const Tensor& tensor, std::int64_t i) {
  return static_cast<const std::byte*>(tensor.raw()) + i * std::int64_t(size_of(tensor.dtype()));
}

/// `count` neighbours. The ranges are the same, or do not overlap.
void copy_elements(DType dtype, void* to, const void* from, std::int64_t count);
/// Every element of `to` becomes the one at `value`.
void fill_elements(DType dtype, void* to, const void* value, std::int64_t count);
/// Every element of `to` becomes zero, the empty string, or false.
void zero_elements(Tensor& to);

/// Operand 0 of `loop` walks `to`, operand 1 `from`. They do not overlap.
void copy_strided(DType dtype, const StridedLoop& loop, void* to, const void* from);
/// `to += from`, visit by visit, for float32 and float64. Throws: TypeError for other types.
void add_strided(DType dtype, const StridedLoop& loop, void* to, const void* from);

}  // namespace d5::detail
