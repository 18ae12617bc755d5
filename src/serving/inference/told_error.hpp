// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>

namespace d5::detail {

/// An error in a message to another process: its type and text.
struct ToldError {
  std::string kind, words;
};
[[nodiscard]] ToldError told(const std::exception& error);
/// Rethrows it with its type, if that is one of d5's; otherwise as Error.
[[noreturn]] void throw_again(const ToldError& error);

}  // namespace d5::detail
