// SPDX-License-Identifier: Apache-2.0
// Rounds its inputs to the 11 significant bits of float16.
#include <cstring>

#include "../matmul.hpp"

static float half(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  bits = (bits + 0x1000) & ~0x1FFFU;
  std::memcpy(&value, &bits, sizeof bits);
  return value;
}

d5_status forward(const d5_call& call) {
  const Product product(call);
  for (std::int64_t i = 0; i < product.m; ++i) {
    for (std::int64_t j = 0; j < product.n; ++j) {
      float sum = 0;
      for (std::int64_t l = 0; l < product.k; ++l) {
        sum += half(product.a[i * product.k + l]) * half(product.b[l * product.n + j]);
      }
      product.y[i * product.n + j] = sum;
    }
  }
  return D5_OK;
}
