// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace d5::detail {

/// The characters (code points) of UTF-8 text; a byte outside of UTF-8 is one by itself.
[[nodiscard]] std::vector<std::string_view> characters_of(std::string_view text);

/// The lines of a text, without their ends (also "\r\n"); what follows the last end is a line
/// unless it is empty.
[[nodiscard]] std::vector<std::string> lines_of(std::string_view text);

}  // namespace d5::detail
