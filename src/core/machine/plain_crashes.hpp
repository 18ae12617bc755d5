// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>

namespace d5::detail {

/// In a process whose parent tells how it ended: what a crash sends ends it, and no handler, such
/// as a sanitizer's or a test's, tells of it in between.
inline void crash_plainly() {
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    std::signal(signal, SIG_DFL);
  }
}

}  // namespace d5::detail
