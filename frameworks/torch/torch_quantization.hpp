// SPDX-License-Identifier: Apache-2.0
// Doubles as elements of types that hold fewer numbers.
#pragma once

#include <ATen/core/Tensor.h>

namespace d5::torch {

/// Whether it is one of torch's floats of 8 bits.
[[nodiscard]] bool is_float8(at::ScalarType type);

/// `x` as `type`, one of the floats of 8 bits: what is too large for it becomes its largest number,
/// or infinity or NaN, as the type has them.
[[nodiscard]] at::Tensor to_float8(const at::Tensor& x, at::ScalarType type, bool saturates);

/// Numbers in units of their scale as elements of a quantized type: integers are rounded to nearest
/// even, moved by the zero point and cut to their range, NaN to its begin; floats are moved and
/// rounded. `zero` may be undefined.
[[nodiscard]] at::Tensor quantized(const at::Tensor& x, const at::Tensor& zero, at::ScalarType type,
                                   bool saturates);

}  // namespace d5::torch
