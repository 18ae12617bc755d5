// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ctime>

namespace d5::detail {

/// Processor time that all threads of this process have used, in seconds.
[[nodiscard]] inline double process_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

}  // namespace d5::detail
