// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/tensor.hpp"

namespace d5::detail {

/// Throws: TypeError if it is not a signal: float32 {samples}.
inline void expect_signal(const TensorDesc& in) {
  if (in.dtype == DType::float32 && in.shape.rank() == 1) return;
  throw TypeError("it gets " + to_string(in) +
                  ", expected one channel of samples: float32 {samples}; 'decode_audio' gives it");
}

}  // namespace d5::detail
