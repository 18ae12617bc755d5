// SPDX-License-Identifier: Apache-2.0
// Checks a recipe's values against the options of its sections, before any part is made.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/entries/unknown_name.hpp"
#include "d5/core/entries/unknown_option.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level2_training/training/recipe.hpp"
#include "level2_training/training/recipe/recipe_options.hpp"

namespace d5 {
namespace {

/// Types of options that take no text, and what one of them expects.
constexpr std::array<std::pair<std::string_view, const char*>, 5> kNumbers{
    {{"integer", "an integer"},
     {"number", "a number"},
     {"flag", "true or false"},
     {"integers", "integers"},
     {"numbers", "numbers"}}};

/// "training" of "training.epochs".
std::string section_of(const std::string& key) { return key.substr(0, key.find('.')); }

/// "steps" of "dataset.steps.1.size".
std::string option_of(const std::string& key) {
  const std::size_t dot = key.find('.');
  return dot == std::string::npos ? "" : section_of(key.substr(dot + 1));
}

/// Whether a section's options are known without loading a framework, whose entries have a slash.
bool is_checked(const std::string& section, const std::string& entry) {
  if (section == "training" || (section == "model" && entry == "file")) return true;
  return entry.find('/') == std::string::npos && !detail::entry_options(section, entry).empty();
}

}  // namespace

std::string Recipe::place_of(int line) const {
  if (line <= 0) return printable(file_);
  if (places_.empty()) return fmt::format("{}:{}", printable(file_), line);
  const auto place = std::min(std::size_t(line), places_.size()) - 1;
  return printable(fmt::format("{}:{}", file_, places_[place]));
}

std::string Recipe::entry_of(const std::string& section) const {
  if (section == "model" && values_.contains("model.file")) return "file";
  const auto place = values_.find(section + ".name");
  return place == values_.end() ? "" : place->second.text;
}

/// The same option in the other sections that have it: "sampler.batch_size" for
/// "training.batch_size".
std::vector<std::string> Recipe::owners_of(const std::string& key) const {
  const std::string option = option_of(key);
  std::vector<std::string> owners;
  if (option.empty() || option == "name") return owners;
  for (const std::string& section : detail::recipe_sections()) {
    if (section == "metrics") continue;
    const bool has_it = detail::section_options(section, entry_of(section)).contains(option);
    if (has_it && section != section_of(key)) owners.push_back(section + "." + option);
  }
  return owners;
}

std::string Recipe::type_of(const std::string& key) const {
  const std::string section = section_of(key);
  const auto types = detail::section_options(section, entry_of(section));
  const auto place = types.find(key.substr(std::min(section.size() + 1, key.size())));
  return place == types.end() ? "" : place->second;
}

/// Throws: UnknownOption for an option that belongs to another section. Any other unknown one is
/// refused by the part that is made.
void Recipe::expect_own_options() const {
  for (const auto& [key, value] : values_) {
    const std::string section = section_of(key), entry = entry_of(section);
    if (!is_checked(section, entry)) continue;
    const auto own = detail::section_options(section, entry);
    if (own.contains(option_of(key))) continue;
    const auto owners = owners_of(key);
    if (owners.empty()) continue;
    std::vector<std::string> known;
    for (const auto& [name, type] : own) known.push_back(name);
    throw UnknownOption(detail::unknown_name(
        fmt::format("{}: {}: option", place_of(value.line), section), option_of(key), known,
        {owners.begin(), owners.begin() + std::min<std::ptrdiff_t>(3, std::ssize(owners))}));
  }
}

/// Throws: TypeError for a text in place of a number or a flag.
void Recipe::expect_numbers() const {
  for (const auto& [key, value] : values_) {
    if (!value.is_text) continue;
    const std::string type = type_of(key);
    const auto number =
        std::ranges::find(kNumbers, type, [](const auto& one) { return one.first; });
    if (number == kNumbers.end()) continue;
    throw TypeError(fmt::format("{}: {} is the text '{}', expected {}", place_of(value.line), key,
                                printable(value.text), number->second));
  }
}

}  // namespace d5
