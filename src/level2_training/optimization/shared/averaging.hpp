// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/tensor/tensor.hpp"

namespace d5::detail {

/// from + share * (to - from) for each element, in `from`: of float32, or of float64 as `to`.
void move_towards(Tensor& from, const Tensor& to, double share);
/// Elements of `from` in the type of `to`, which may lie on a device.
void put(const Tensor& from, Tensor& to);

}  // namespace d5::detail
