// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/operator/tensor_conversion.hpp"

#include "level0_ops/operator/conversion.hpp"

namespace d5::detail {

Tensor converted(const Tensor& tensor, DType dtype) {
  const Tensor from = tensor.on_host();
  Tensor result = Tensor::empty(dtype, tensor.shape());
  Conversion(tensor.dtype(), dtype).run(result.raw(), from.raw(), tensor.elements());
  return result;
}

}  // namespace d5::detail
