// SPDX-License-Identifier: Apache-2.0
#include "d5/core/tensor/arena.hpp"

#include "d5/core/errors/error.hpp"

namespace d5 {

Arena::Arena(std::size_t bytes, Device device)
    : block_(Tensor::zeros(
          {.dtype = DType::uint8, .shape = {std::int64_t(aligned(bytes))}, .device = device})) {}

Tensor Arena::at(std::size_t offset, const TensorDesc& desc) const {
  TensorDesc here = desc;
  here.device = block_.device();
  return block_.view(offset, here);
}

}  // namespace d5
