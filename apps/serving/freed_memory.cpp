// SPDX-License-Identifier: Apache-2.0
#include "apps/serving/freed_memory.hpp"

#include <malloc.h>

namespace d5::app {

void keep_freed_memory() {
  constexpr int kLargest = 32 << 20;  // the maximum of glibc's dynamic threshold
  (void)::mallopt(M_MMAP_THRESHOLD, kLargest);
  (void)::mallopt(M_TRIM_THRESHOLD, 2 * kLargest);
}

}  // namespace d5::app
