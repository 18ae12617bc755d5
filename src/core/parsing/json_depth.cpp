// SPDX-License-Identifier: Apache-2.0
#include "core/parsing/json_depth.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

void expect_shallow_json(std::string_view text, const std::string& who) {
  constexpr int kMostLevels = 100;
  int level = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++level > kMostLevels) {
        throw FormatError(fmt::format("{} is deeper than {} levels", who, kMostLevels));
      }
    } else if (c == ']' || c == '}') {
      --level;
    }
  }
}

}  // namespace d5::detail
