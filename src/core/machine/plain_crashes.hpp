// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>

namespace d5::detail {

/// Restores the default action of crash signals, without handlers of sanitizers or test frameworks.
/// For a process whose parent reports how it ended.
inline void crash_plainly() {
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) {
    std::signal(signal, SIG_DFL);
  }
}

}  // namespace d5::detail
