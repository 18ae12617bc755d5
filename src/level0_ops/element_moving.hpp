// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstdint>
#include <string>

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

/// Calls `f.operator()<T>()` with a type that moves like `dtype`: an integer of its size, or
/// std::string.
template <class F>
void dispatch_by_size(DType dtype, F&& f) {
  if (dtype == DType::string) return f.template operator()<std::string>();
  switch (size_of(dtype)) {
    case 1:
      return f.template operator()<std::uint8_t>();
    case 2:
      return f.template operator()<std::uint16_t>();
    case 4:
      return f.template operator()<std::uint32_t>();
    case 8:
      return f.template operator()<std::uint64_t>();
    case 16:
      return f.template operator()<std::complex<double>>();
    default:
      throw_type_not_supported("moving elements", dtype);
  }
}

/// `count` neighbours. The ranges are the same, or do not overlap.
void copy_elements(DType dtype, void* to, const void* from, std::int64_t count);
/// Every element of `to` becomes the one at `value`.
void fill_elements(DType dtype, void* to, const void* value, std::int64_t count);
/// Every element of `to` becomes zero, the empty string, or false.
void zero_elements(Tensor& to);

/// Operand 0 of `loop` walks `to`, operand 1 `from`. They do not overlap.
void copy_strided(DType dtype, const StridedLoop& loop, void* to, const void* from);
/// The other way: operand 0 of `loop` walks `from`, operand 1 `to`. No two visits write one
/// element.
void copy_strided_back(DType dtype, const StridedLoop& loop, const void* from, void* to);
/// `to += from`, visit by visit, with the operands of `copy_strided_back`, for float32 and float64.
/// Throws: TypeError for other types.
void add_strided_back(DType dtype, const StridedLoop& loop, const void* from, void* to);

}  // namespace d5::detail
