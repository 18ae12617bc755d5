// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstring>
#include <string>

namespace d5::detail {

/// "SIGSEGV (Segmentation fault)"
[[nodiscard]] inline std::string signal_words(int signal) {
  const char* name = sigabbrev_np(signal);
  return fmt::format("SIG{} ({})", name ? name : std::to_string(signal), strsignal(signal));
}

}  // namespace d5::detail
