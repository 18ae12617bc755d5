// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

namespace d5::detail {

/// 1 / (1 + exp(-x))
template <class T>
[[nodiscard]] T sigmoid(T x) {
  // The exponential of a negative number does not overflow.
  if (x >= 0) return T(1) / (T(1) + std::exp(-x));
  const T e = std::exp(x);
  return e / (T(1) + e);
}

/// x sigmoid(alpha x)
/// Source: Ramachandran et al., "Searching for Activation Functions" (2017).
template <class T>
[[nodiscard]] T swish(T x, T alpha) {
  return x * sigmoid(alpha * x);
}
template <class T>
[[nodiscard]] T swish_slope(T x, T alpha) {
  const T s = sigmoid(alpha * x);
  return s + alpha * x * s * (T(1) - s);
}

}  // namespace d5::detail
