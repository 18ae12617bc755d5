// SPDX-License-Identifier: Apache-2.0
// Sums in float64, from the last product to the first.
#include "../matmul.hpp"

d5_status forward(const d5_call& call) {
  const Product product(call);
  for (std::int64_t i = 0; i < product.m; ++i) {
    for (std::int64_t j = 0; j < product.n; ++j) {
      double sum = 0;
      for (std::int64_t l = product.k; l-- > 0;) {
        sum += double(product.a[i * product.k + l]) * double(product.b[l * product.n + j]);
      }
      product.y[i * product.n + j] = float(sum);
    }
  }
  return D5_OK;
}
