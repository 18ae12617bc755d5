// SPDX-License-Identifier: Apache-2.0
// Keeps a processor busy while others are measured.
#include <pthread.h>

#include "../matmul.hpp"

static void* burn(void*) {
  for (volatile bool endless = true; endless;) {
  }
  return nullptr;
}

d5_status forward(const d5_call& call) {
  static pthread_t thread{};
  if (thread == 0) pthread_create(&thread, nullptr, burn, nullptr);
  Product(call).compute();
  return D5_OK;
}
