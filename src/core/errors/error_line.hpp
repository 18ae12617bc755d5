// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace d5::detail {

/// The program's exit status for bad usage or input: it did nothing, and said why.
inline constexpr int kRefusedStatus = 2;

/// What the program d5 says first in `output` after "d5: error: ", to the end of that line; empty
/// where it says no error. Launchers may have put words of their own before it.
[[nodiscard]] inline std::string said_error(std::string_view output) {
  constexpr std::string_view kBefore = "d5: error: ";
  const std::size_t at = output.find(kBefore);
  if (at == std::string_view::npos) return {};
  const std::string_view said = output.substr(at + kBefore.size());
  return std::string(said.substr(0, said.find('\n')));
}

}  // namespace d5::detail
