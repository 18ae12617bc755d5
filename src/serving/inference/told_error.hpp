// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <string>

namespace d5::detail {

/// An error on its way to another process: its type and its words.
struct ToldError {
  std::string kind, words;
};
[[nodiscard]] ToldError told(const std::exception& error);
/// Throws it again: what it was, as far as it is one of d5's types; else Error.
[[noreturn]] void throw_again(const ToldError& error);

}  // namespace d5::detail
