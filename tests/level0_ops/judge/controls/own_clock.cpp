// SPDX-License-Identifier: Apache-2.0
// Replaces the clock of its process, sleeps for 2 ms, and computes.
#include <time.h>

#include "../matmul.hpp"

extern "C" D5_EXPORT int clock_gettime(clockid_t, timespec* time) noexcept {
  *time = {};
  return 0;
}

d5_status forward(const d5_call& call) {
  const timespec pause{0, 2'000'000};
  nanosleep(&pause, nullptr);
  Product(call).compute();
  return D5_OK;
}
