// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace d5::detail {

/// The program's exit status for bad usage or input.
inline constexpr int kRefusedStatus = 2;

/// The first error message in the output of the program d5: the rest of the line after "d5: error:
/// "; empty if there is none. Launchers may prefix the line with text of their own.
[[nodiscard]] inline std::string said_error(std::string_view output) {
  constexpr std::string_view kBefore = "d5: error: ";
  const std::size_t at = output.find(kBefore);
  if (at == std::string_view::npos) return {};
  const std::string_view said = output.substr(at + kBefore.size());
  return std::string(said.substr(0, said.find('\n')));
}

}  // namespace d5::detail
