// SPDX-License-Identifier: Apache-2.0
// Conversion of doubles to types with fewer numbers.
#pragma once

#include <ATen/core/Tensor.h>

namespace d5::torch {

/// Whether it is one of torch's 8-bit floats.
[[nodiscard]] bool is_float8(at::ScalarType type);

/// Converts `x` to `type`, an 8-bit float: numbers that are too large become its largest number, or
/// infinity or NaN, as the type defines.
[[nodiscard]] at::Tensor to_float8(const at::Tensor& x, at::ScalarType type, bool saturates);

/// Converts numbers in units of their scale to a quantized type. Integers are rounded to nearest
/// even, shifted by the zero point and clamped to their range, NaN to the minimum; floats are
/// shifted and rounded. `zero` may be undefined.
[[nodiscard]] at::Tensor quantized(const at::Tensor& x, const at::Tensor& zero, at::ScalarType type,
                                   bool saturates);

}  // namespace d5::torch
