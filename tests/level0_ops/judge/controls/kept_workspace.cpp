// SPDX-License-Identifier: Apache-2.0
// Keeps memory for each shape between calls.
#include <map>
#include <utility>
#include <vector>

#include "../matmul.hpp"

d5_status forward(const d5_call& call) {
  static std::map<std::pair<std::int64_t, std::int64_t>, std::vector<float>> workspaces;
  const Product product(call);
  auto& transposed = workspaces[{product.k, product.n}];
  transposed.resize(static_cast<std::size_t>(product.k * product.n));
  for (std::int64_t l = 0; l < product.k; ++l) {
    for (std::int64_t j = 0; j < product.n; ++j) {
      transposed[static_cast<std::size_t>(j * product.k + l)] = product.b[l * product.n + j];
    }
  }
  for (std::int64_t i = 0; i < product.m; ++i) {
    for (std::int64_t j = 0; j < product.n; ++j) {
      const float* column = transposed.data() + j * product.k;
      float sum = 0;
      for (std::int64_t l = 0; l < product.k; ++l) sum += product.a[i * product.k + l] * column[l];
      product.y[i * product.n + j] = sum;
    }
  }
  return D5_OK;
}
