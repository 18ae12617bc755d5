// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <string>
#include <system_error>
#include <utility>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

/// Starts a thread (std::thread, std::jthread) for `work`. Throws: Unsupported if the system
/// refuses another thread. The caller must then end its earlier threads: std::thread does not.
template <class Thread, class Work>
[[nodiscard]] Thread new_thread(const std::string& who, Work work) {
  try {
    return Thread(std::move(work));
  } catch (const std::system_error& error) {
    throw Unsupported(fmt::format("{}: the system makes no more threads: {}; ask for fewer",
                                  printable(who), error.what()));
  }
}

}  // namespace d5::detail
