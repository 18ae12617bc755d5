// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/tensor.hpp"
#include "d5/level3_distributed/communicator.hpp"

namespace d5::detail {

/// accumulated[i] = accumulated[i] (+, max, min) other[i]. Types: float32, float64, int32, int64.
/// Throws: TypeError for others.
void reduce_elements(Tensor& accumulated, const Tensor& other, Reduction reduction);

}  // namespace d5::detail
