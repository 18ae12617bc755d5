// SPDX-License-Identifier: Apache-2.0
#include "core/tensor/float64.hpp"

#include <algorithm>

namespace d5::detail {

Tensor to_float64(const Tensor& tensor) {
  const Tensor from = tensor.on_host();
  Tensor result = Tensor::empty(DType::float64, tensor.shape());
  dispatch(FloatTypes{}, tensor.dtype(), "to_float64", [&]<class T>() {
    std::ranges::transform(from.span<T>(), result.data<double>(),
                           [](const T& value) { return double(Arithmetic<T>(value)); });
  });
  return result;
}

}  // namespace d5::detail
