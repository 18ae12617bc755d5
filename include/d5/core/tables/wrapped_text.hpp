// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace d5 {

/// Each line of `text` in lines of at most `width` characters (0: no limit), each with its end.
/// They end behind a word; a word that is longer than a line is cut, but not within a number that
/// fits.
[[nodiscard]] std::string wrapped(std::string_view text, int width);

}  // namespace d5
