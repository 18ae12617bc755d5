// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace d5::detail {

inline constexpr double kTextSize = 12;  ///< font size of a plot's text, in pixels
inline constexpr double kBold = 1.2;     ///< width of bold text over regular text

/// Width of a text as drawn, in pixels; an upper bound for the usual sans-serif fonts.
/// Source: advance widths of DejaVu Sans, which is wider than Helvetica, Arial and Segoe UI.
[[nodiscard]] double text_width(std::string_view text, double size = kTextSize);

/// The text, shortened with an ellipsis to `width` pixels.
[[nodiscard]] std::string fitted(std::string_view text, double width, double size = kTextSize);

/// The text, shortened in its middle, because names often differ at their ends.
[[nodiscard]] std::string fitted_name(std::string_view text, double width);

/// Lines of at most `width` pixels, broken between words, or within a word that is longer.
[[nodiscard]] std::vector<std::string> lines_of(std::string_view text, double width,
                                                double size = kTextSize);

}  // namespace d5::detail
