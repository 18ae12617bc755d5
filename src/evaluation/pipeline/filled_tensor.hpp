// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/tensor/tensor.hpp"

namespace d5::detail {

/// A tensor whose elements are all `value`: float16 to float64, int32, int64, uint8 or bool.
/// Throws: TypeError for another type; ValueError for a value that the type does not hold.
[[nodiscard]] Tensor filled_tensor(const TensorDesc& desc, double value);

}  // namespace d5::detail
