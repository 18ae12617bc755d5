// SPDX-License-Identifier: Apache-2.0
#include "core/report/text_width.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

/// Advance widths of the characters from ' ' to '~', in thousandths of the font size.
constexpr std::array<std::uint16_t, 95> kWidths = {
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361,  318, 337, 636, 636, 636,
    636, 636, 636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632,
    575, 775, 752, 295, 295, 656, 557, 863, 748, 787, 603, 787, 695, 635,  611, 732, 684, 989, 685,
    611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352,  635, 634, 278, 278, 579,
    278, 974, 634, 612, 635, 635, 411, 521, 392, 634, 592, 818, 592, 592,  525, 636, 337, 636, 838};
constexpr double kOther = 1;  ///< any other character, in font sizes
constexpr const char* kEllipsis = "…";

bool begins_character(char c) { return (std::uint8_t(c) & 0xc0) != 0x80; }

double width_of(char c) {
  if (c >= ' ' && c <= '~') return kWidths[std::size_t(c - ' ')] / 1000.0;
  return begins_character(c) ? kOther : 0;
}

double width_of(std::string_view text) {
  double width = 0;
  for (const char c : text) width += width_of(c);
  return width;
}

/// Bytes of the longest begin of `text` that is no wider than `width`, in font sizes.
std::size_t fitting(std::string_view text, double width) {
  double used = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    used += width_of(text[i]);
    if (used > width) return i;  // a character's first byte has all its width
  }
  return text.size();
}

}  // namespace

double text_width(std::string_view text, double size) {
  return size * width_of(printable_message(text));
}

std::string fitted(std::string_view text, double width, double size) {
  const std::string shown = printable_message(text);
  if (size * width_of(shown) <= width) return shown;
  const std::size_t kept = fitting(shown, width / size - width_of(kEllipsis));
  return shown.substr(0, kept) + kEllipsis;
}

std::string fitted_name(std::string_view text, double width) {
  const std::string shown = printable_message(text);
  const double room = width / kTextSize;
  if (width_of(shown) <= room) return shown;
  constexpr double kBegin = 0.4;  // share of the begin that is kept
  const std::size_t begin = fitting(shown, kBegin * (room - width_of(kEllipsis)));
  const std::string kept = shown.substr(0, begin) + kEllipsis;
  std::size_t end = shown.size();
  double used = width_of(kept);
  for (std::size_t i = shown.size(); i-- > begin;) {
    used += width_of(shown[i]);
    if (used > room) break;
    if (begins_character(shown[i])) end = i;
  }
  return kept + shown.substr(end);
}

std::vector<std::string> lines_of(std::string_view text, double width, double size) {
  const std::string shown = printable_message(text);
  std::vector<std::string> lines;
  for (std::string_view rest = shown; !rest.empty();) {
    std::size_t end = fitting(rest, width / size);
    if (end < rest.size()) {
      const std::size_t space = rest.rfind(' ', end);
      if (space != std::string_view::npos && space > 0) end = space;
      // At least one whole character.
      while (end < rest.size() && (end == 0 || !begins_character(rest[end]))) ++end;
    }
    lines.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end);
    if (rest.starts_with(' ')) rest.remove_prefix(1);
  }
  return lines;
}

}  // namespace d5::detail
