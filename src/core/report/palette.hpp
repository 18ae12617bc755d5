// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace d5::detail {

inline constexpr std::size_t kSeriesColours = 6;

enum class Theme { light, dark };

/// Rules of CSS that give the classes of plots their colours: "ink", "soft" and "grid" for text and
/// lines, "halo" around text that crosses shapes, "back" for what is behind all, "s0" ... "s5" for
/// series. Shapes are drawn in `currentColor`.
[[nodiscard]] std::string colour_rules(Theme theme);

/// Those of a picture that is a file of its own: light or dark as the reader's system is.
[[nodiscard]] std::string colour_rules();

/// What such a picture is drawn on: it is legible on a page of any colour.
[[nodiscard]] std::string background();

}  // namespace d5::detail
