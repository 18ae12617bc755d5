// SPDX-License-Identifier: Apache-2.0
#include "evaluation/run/network_text.hpp"

#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "d5/core/entries/registry.hpp"

namespace d5::detail {

std::vector<EntryChoice> with_network_text(
    std::vector<EntryChoice> steps,
    const std::function<std::map<std::string, std::string>()>& metadata) {
  constexpr std::string_view kWord = "network:";
  std::optional<std::map<std::string, std::string>> texts;
  for (EntryChoice& step : steps) {
    for (const auto& [name, value] : std::map(step.settings.values())) {
      if (!value.starts_with(kWord)) continue;
      if (!texts) texts = metadata();
      const std::string key = value.substr(kWord.size());
      const auto text = texts->find(key);
      if (text == texts->end()) {
        std::vector<std::string> known;
        for (const auto& [other, ignored] : *texts) known.push_back(other);
        throw_unknown_name(
            fmt::format("metadata of the network, which '{}' of step {} asks for", name, step.name),
            key, known);
      }
      step.settings.set(name, text->second);
    }
  }
  return steps;
}

}  // namespace d5::detail
