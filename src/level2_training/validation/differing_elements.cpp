// SPDX-License-Identifier: Apache-2.0
#include "level2_training/validation/differing_elements.hpp"

#include <cstddef>
#include <cstring>

namespace d5::detail {

std::int64_t differing_elements(Network& a, Network& b) {
  std::int64_t different = 0;
  for (const Parameter& parameter : a.parameters()) {
    const Tensor& other = b.parameter(parameter.name).value;
    const std::size_t size = size_of(other.dtype());
    const auto* left = static_cast<const std::byte*>(parameter.value.raw());
    const auto* right = static_cast<const std::byte*>(other.raw());
    for (std::size_t byte = 0; byte < other.bytes(); byte += size) {
      different += std::memcmp(left + byte, right + byte, size) != 0 ? 1 : 0;
    }
  }
  return different;
}

}  // namespace d5::detail
