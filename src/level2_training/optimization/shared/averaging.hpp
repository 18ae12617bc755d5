// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/tensor/tensor.hpp"

namespace d5::detail {

/// from <- from + share * (to - from), elementwise; in float32, or in float64 if `to` is.
void move_towards(Tensor& from, const Tensor& to, double share);
/// Converts the elements of `from` to the type of `to`, which may lie on a device.
void put(const Tensor& from, Tensor& to);

}  // namespace d5::detail
