// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/tensor/tensor.hpp"

namespace d5::detail {

/// The same numbers, exactly, in memory of its own on the host. Throws: TypeError for what is none
/// of `FloatTypes`.
[[nodiscard]] Tensor to_float64(const Tensor& tensor);

}  // namespace d5::detail
