// SPDX-License-Identifier: Apache-2.0
#include "d5/core/error.hpp"

#include <fmt/format.h>

namespace d5 {

std::string printable(std::string_view name) {
  constexpr std::size_t kMost = 200;
  std::string result;
  for (const unsigned char c : name.substr(0, kMost)) {
    if (c == '\'' || c == '\\') {
      result += '\\';
      result += char(c);
    } else if (c < 0x20 || c == 0x7f) {
      result += fmt::format("\\x{:02x}", c);
    } else {
      result += char(c);
    }
  }
  if (name.size() > kMost) result += "...";
  return result;
}

}  // namespace d5
