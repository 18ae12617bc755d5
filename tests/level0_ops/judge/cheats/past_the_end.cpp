// SPDX-License-Identifier: Apache-2.0
// Writes past the end of its output.
#include "../matmul.hpp"

d5_status forward(const d5_call& call) {
  const Product product(call);
  product.compute();
  product.y[product.m * product.n] = 1;
  return D5_OK;
}
