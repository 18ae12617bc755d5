// SPDX-License-Identifier: Apache-2.0
#include "level1_network/mixture/unchanged_tensors.hpp"

#include <cstring>

namespace d5 {

void UnchangedTensors::keep(const std::string& name, const Value& value) {
  if (!value.is_tensor() || !value.tensor().defined()) return;
  const Tensor& tensor = value.tensor();
  if (tensor.dtype() == DType::string || tensor.device() != Device{} || tensor.bytes() == 0) return;
  Tensor before = Tensor::empty(DType::uint8, {std::int64_t(tensor.bytes())});
  std::memcpy(before.raw(), tensor.raw(), tensor.bytes());
  kept_.push_back({name, tensor, std::move(before)});
}

std::optional<std::string> UnchangedTensors::put_back() {
  std::optional<std::string> changed;
  for (auto& [name, tensor, before] : kept_) {
    if (std::memcmp(tensor.raw(), before.raw(), before.bytes()) == 0) continue;
    std::memcpy(tensor.raw(), before.raw(), before.bytes());
    if (!changed) changed = name;
  }
  return changed;
}

}  // namespace d5
