// SPDX-License-Identifier: Apache-2.0
// Reads what the system says of its processors, and asks for one of them.
#include <sched.h>
#include <cstdio>

#include "../matmul.hpp"

d5_status forward(const d5_call& call) {
  std::FILE* processors = std::fopen("/proc/cpuinfo", "r");
  if (!processors) return D5_OTHER_ERROR;
  std::fclose(processors);
  cpu_set_t first;
  CPU_ZERO(&first);
  CPU_SET(0, &first);
  sched_setaffinity(0, sizeof first, &first);  // refused
  Product(call).compute();
  return D5_OK;
}
