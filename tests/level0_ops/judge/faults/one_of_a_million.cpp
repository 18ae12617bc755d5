// SPDX-License-Identifier: Apache-2.0
// A single element, at a drawn place in each call, is off by a little more than rounding explains.
#include <random>

#include "../matmul.hpp"

d5_status forward(const d5_call& call) {
  static std::mt19937 draw(std::random_device{}());
  const Product product(call);
  product.compute();
  float& one =
      product.y[std::uniform_int_distribution<std::int64_t>(0, product.m * product.n - 1)(draw)];
  one += 2e-5F * (one < 0 ? -one : one) + 2e-6F;
  return D5_OK;
}
