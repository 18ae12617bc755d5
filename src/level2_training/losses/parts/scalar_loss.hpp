// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/core/tensor/value.hpp"

namespace d5::detail {

/// The scalar output `loss`, float32 or float64.
[[nodiscard]] inline double scalar_loss(const ValueMap& outputs, const std::string& loss) {
  const Tensor& tensor = outputs.at(loss).tensor();
  double value = 0;
  dispatch(RealTypes{}, tensor.dtype(), "loss",
           [&]<class T>() { value = double(tensor.item<T>()); });
  return value;
}

}  // namespace d5::detail
