// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace d5::detail {

inline constexpr std::size_t kSeriesColours = 6;

enum class Theme { light, dark };

/// CSS rules for the colours of plot classes: "ink", "soft" and "grid" for text and lines, "halo"
/// around text that crosses shapes, "back" for the background, "s0" ... "s5" for series. Shapes are
/// drawn in `currentColor`.
[[nodiscard]] std::string colour_rules(Theme theme);

/// Rules for a standalone picture: follows the reader's light or dark theme.
[[nodiscard]] std::string colour_rules();

/// Background of such a picture, so that it is legible on a page of any colour.
[[nodiscard]] std::string background();

}  // namespace d5::detail
