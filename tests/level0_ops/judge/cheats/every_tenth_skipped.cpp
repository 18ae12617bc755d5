// SPDX-License-Identifier: Apache-2.0
// Leaves out every tenth element.
#include "../matmul.hpp"

d5_status forward(const d5_call& call) {
  const Product product(call);
  for (std::int64_t i = 0; i < product.m * product.n; ++i) {
    if (i % 10 != 9) product.y[i] = product.element(i / product.n, i % product.n);
  }
  return D5_OK;
}
