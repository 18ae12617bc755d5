// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/tensor/tensor.hpp"

namespace d5::detail {

/// An exact float64 copy on the host. Throws: TypeError for types outside `FloatTypes`.
[[nodiscard]] Tensor to_float64(const Tensor& tensor);

}  // namespace d5::detail
