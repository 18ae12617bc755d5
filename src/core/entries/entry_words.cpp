// SPDX-License-Identifier: Apache-2.0
#include "d5/core/entries/entry_words.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"

namespace d5 {

EntryChoice entry_of_words(std::string_view kind, const std::string& text) {
  EntryChoice choice{text.substr(0, text.find(':'))};
  for (std::size_t colon = choice.name.size(); colon < text.size();) {
    const std::size_t next = std::min(text.find(':', colon + 1), text.size());
    const std::string setting = text.substr(colon + 1, next - colon - 1);
    const std::size_t equals = setting.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw ValueError(fmt::format("{} '{}': expected NAME[:KEY=VALUE]..., found '{}'", kind,
                                   printable(text), printable(setting)));
    }
    choice.settings.set(setting.substr(0, equals), setting.substr(equals + 1));
    colon = next;
  }
  return choice;
}

std::string to_words(const EntryChoice& choice) {
  std::string words = choice.name;
  for (const auto& [key, value] : choice.settings.values()) {
    words += fmt::format(":{}={}", key, value);
  }
  return words;
}

std::string meant_name(std::string_view word, const std::vector<std::string>& known) {
  if (std::ranges::find(known, word) != known.end()) return std::string(word);
  std::string name(word);
  std::ranges::replace(name, '-', '_');
  if (std::ranges::find(known, name) != known.end()) return name;
  const auto begins = [&](const std::string& one) { return one.starts_with(name); };
  if (name.empty() || std::ranges::count_if(known, begins) != 1) return std::string(word);
  return *std::ranges::find_if(known, begins);
}

}  // namespace d5
