// SPDX-License-Identifier: Apache-2.0
// Has a routine of BLAS in it, as if a library were linked into it.
#include "../matmul.hpp"

extern "C" __attribute__((noinline)) void cblas_sgemm(const Product* product) {
  product->compute();
}

d5_status forward(const d5_call& call) {
  const Product product(call);
  cblas_sgemm(&product);
  return D5_OK;
}
