// SPDX-License-Identifier: Apache-2.0
#include "core/report/palette.hpp"

#include <fmt/format.h>

#include <array>

namespace d5::detail {
namespace {

struct ColourRow {
  const char* name;
  const char* light;
  const char* dark;
};

// Series: the hues of Okabe and Ito; each has a contrast of at least 3 to its background.
constexpr std::array<ColourRow, 4 + kSeriesColours> kColours = {{{"back", "#ffffff", "#1b2026"},
                                                                 {"ink", "#1b1f24", "#e6e9ed"},
                                                                 {"soft", "#5a626d", "#a2abb6"},
                                                                 {"grid", "#dfe3e8", "#363d47"},
                                                                 {"s0", "#0072b2", "#56b4e9"},
                                                                 {"s1", "#d55e00", "#f58a4b"},
                                                                 {"s2", "#008a65", "#1fc89b"},
                                                                 {"s3", "#b0468e", "#e29ac8"},
                                                                 {"s4", "#9a6f00", "#f0c65a"},
                                                                 {"s5", "#4a4f57", "#c9ced6"}}};

}  // namespace

std::string colour_rules(Theme theme) {
  std::string rules = fmt::format(
      ".plot .halo{{stroke:{0};stroke-width:4px;paint-order:stroke;"
      "stroke-linejoin:round}}.plot .edge{{stroke:{0}}}",
      theme == Theme::light ? kColours[0].light : kColours[0].dark);
  for (const auto& [name, light, dark] : kColours) {
    rules += fmt::format(".plot .{}{{color:{}}}", name, theme == Theme::light ? light : dark);
  }
  return rules;
}

std::string colour_rules() {
  return colour_rules(Theme::light) + "@media (prefers-color-scheme:dark){" +
         colour_rules(Theme::dark) + "}";
}

std::string background() {
  return "<rect class=\"back\" width=\"100%\" height=\"100%\" fill=\"currentColor\"/>";
}

}  // namespace d5::detail
