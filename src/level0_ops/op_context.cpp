// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/op_context.hpp"

namespace d5 {

Tensor& OpContext::allocate(std::size_t i, const TensorDesc& desc) {
  Value& value = *outputs[i];
  const bool planned = value.is_tensor() && value.tensor().desc() == desc;
  if (!planned) value = services().allocate(desc);
  return value.tensor();
}

}  // namespace d5
