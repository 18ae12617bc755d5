// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

#include "d5/core/tensor/tensor.hpp"

namespace d5 {

/// Whether the two have a byte of memory in common, on one device.
[[nodiscard]] inline bool overlap(const Tensor& a, const Tensor& b) {
  if (a.device() != b.device() || a.bytes() == 0 || b.bytes() == 0) return false;
  const auto* begin_a = static_cast<const std::byte*>(a.raw());
  const auto* begin_b = static_cast<const std::byte*>(b.raw());
  const std::less<> before;  // a total order, also of unrelated addresses
  return before(begin_a, begin_b + b.bytes()) && before(begin_b, begin_a + a.bytes());
}

}  // namespace d5
