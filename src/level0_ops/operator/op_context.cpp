// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/operator/op_context.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"

namespace d5 {

Tensor& OpContext::allocate(std::size_t i, const TensorDesc& desc) {
  Value& value = *outputs[i];
  if (value.is_tensor() && value.tensor().desc() == desc) return value.tensor();
  if (planned_outputs.contains(i)) {
    throw ContractError(fmt::format("{}: its kernel asks for {} as output {}, but infer said {}",
                                    who(), to_string(desc), i, to_string(value.desc())));
  }
  value = services().allocate(desc);
  return value.tensor();
}

void OpContext::set_output(std::size_t i, Value value) {
  if (planned_outputs.contains(i)) {
    throw ContractError(fmt::format(
        "{}: its kernel replaces output {}, which was planned for it; it must write to it", who(),
        i));
  }
  *outputs[i] = std::move(value);
}

}  // namespace d5
