// SPDX-License-Identifier: Apache-2.0
#include "d5/core/arena.hpp"

#include "d5/core/error.hpp"

namespace d5 {

Arena::Arena(std::size_t bytes)
    : block_(Tensor::zeros(DType::uint8, {std::int64_t(aligned(bytes))})) {}

Tensor Arena::at(std::size_t offset, const TensorDesc& desc) const {
  return block_.view(offset, desc);
}

}  // namespace d5
