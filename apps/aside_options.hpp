// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace d5::app {

/// An option that changes no number, and so has no place in a line that measures again.
struct AsideOption {
  std::string_view name;
  std::string_view why;
  std::string_view command = "";  ///< "d5 train"; empty: every command that has the option
};

inline constexpr std::array kAsideOptions = {
    AsideOption{"--out", "names a file of the results"},
    AsideOption{"--database", "names another place of the results"},
    AsideOption{"--format", "prints the same numbers otherwise"},
    AsideOption{"--pivot", "prints the same numbers otherwise"},
    AsideOption{"--quiet", "hides progress"},
    AsideOption{"--allow-unsupported", "changes the exit status"},
    AsideOption{"--trace", "watches the run; a run for its numbers is not watched"},
    AsideOption{"--list", "measures nothing"},
    AsideOption{"--dry-run", "measures nothing"},
    AsideOption{"--resume", "keeps what was measured; a line measures all of it"},
    AsideOption{"--heatmap", "names a folder of pictures", "d5 op check"},
    AsideOption{"--output", "names a file of an output", "d5 net run"},
    AsideOption{"--picture", "names a picture", "d5 optimizer check"},
    AsideOption{"--save", "names a file of the trained network", "d5 train"},
    AsideOption{"--checkpoint", "a resumed training has the numbers of a whole one", "d5 train"},
    AsideOption{"--checkpoint-every", "as --checkpoint", "d5 train"},
    AsideOption{"--keep", "as --checkpoint", "d5 train"},
    AsideOption{"--graph", "names a file of the graph", "d5 profile"},
    AsideOption{"--pictures", "names a folder of pictures", "d5 scale"},
    AsideOption{"--pictures", "names a folder of pictures", "d5 predict"},
    AsideOption{"--pictures", "names a folder of pictures", "d5 overlap map"},
    AsideOption{"--compare", "measures nothing", "d5 overlap map"},
    AsideOption{"--force", "is for --compare", "d5 overlap map"},
};

/// `command`: "d5 op bench".
[[nodiscard]] constexpr bool is_aside(std::string_view command, std::string_view option) {
  return std::ranges::any_of(kAsideOptions, [&](const AsideOption& one) {
    return one.name == option && (one.command.empty() || one.command == command);
  });
}

}  // namespace d5::app
