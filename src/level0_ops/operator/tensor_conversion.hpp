// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/tensor/tensor.hpp"

namespace d5::detail {

/// The same numbers rounded to another element type, as Cast does it, in memory of its own on the
/// host.
[[nodiscard]] Tensor converted(const Tensor& tensor, DType dtype);

}  // namespace d5::detail
