// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace d5 {

/// `text` wrapped to lines of at most `width` characters (0: no limit), each ended by a newline.
/// Lines break between words. A word longer than a line is cut, but not within a number that fits.
[[nodiscard]] std::string wrapped(std::string_view text, int width);

}  // namespace d5
