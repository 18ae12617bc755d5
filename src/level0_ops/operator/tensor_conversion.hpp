// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/tensor/tensor.hpp"

namespace d5::detail {

/// A copy on the host, converted to another element type, as by Cast.
[[nodiscard]] Tensor converted(const Tensor& tensor, DType dtype);

}  // namespace d5::detail
