// SPDX-License-Identifier: Apache-2.0
#include "d5/core/tensor/small_float.hpp"

#include <algorithm>

namespace d5 {

Float8E8M0::Float8E8M0(float value) {
  if (std::isnan(value) || std::isinf(value) || value < 0) {
    bits = 255;
    return;
  }
  // Rounds to the nearest power of two, ties up; numbers below the range become 2^-127.
  int exponent = -127;
  if (value > 0) {
    const float fraction = std::frexp(value, &exponent);  // in [0.5, 1)
    exponent -= fraction < 0.75f ? 1 : 0;
  }
  bits = std::uint8_t(std::clamp(exponent, -127, 127) + 127);
}

}  // namespace d5
