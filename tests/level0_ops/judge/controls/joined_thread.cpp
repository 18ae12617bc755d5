// SPDX-License-Identifier: Apache-2.0
// Computes half of the rows in a second thread, and waits for it.
#include <pthread.h>

#include "../matmul.hpp"

static void* compute_half(void* product) {
  const auto& half = *static_cast<const Product*>(product);
  half.rows(half.m / 2, half.m);
  return nullptr;
}

d5_status forward(const d5_call& call) {
  Product product(call);
  pthread_t thread{};
  if (pthread_create(&thread, nullptr, compute_half, &product) != 0) return D5_OTHER_ERROR;
  product.rows(0, product.m / 2);
  pthread_join(thread, nullptr);
  return D5_OK;
}
