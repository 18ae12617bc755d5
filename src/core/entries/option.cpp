// SPDX-License-Identifier: Apache-2.0
#include "d5/core/entries/option.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cmath>
#include <ranges>
#include <utility>

#include "core/entries/unknown_name.hpp"
#include "d5/core/entries/entry_words.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/entries/unknown_option.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/numbers/byte_count.hpp"

namespace d5 {

namespace {

std::atomic<bool> flags_are_used = false;

/// Those that the program takes once for each value, and a call as a list or a map.
bool is_repeated(std::string_view name) {
  constexpr std::array<std::string_view, 4> kRepeated = {"dim", "framework", "input", "transform"};
  return std::ranges::find(kRepeated, name) != kRepeated.end();
}

}  // namespace

std::string option_word(std::string_view name, const Settings::Value& value) {
  const std::string& text = value.text;
  if (flags_are_used) {
    std::string flag = fmt::format("--{}", name);
    std::ranges::replace(flag, '_', '-');
    return text.empty() ? flag : flag + " " + text;
  }
  const std::string keyword = fmt::format("{}{}", name, is_repeated(name) ? "s" : "");
  if (text.empty()) return keyword;
  if (!is_repeated(name)) return fmt::format("{}={}", keyword, text);
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return fmt::format("{}=['{}']", keyword, text);
  return fmt::format("{}={{'{}': {}}}", keyword, text.substr(0, equals), text.substr(equals + 1));
}

void use_option_flags() { flags_are_used = true; }

std::string to_string(const OptionRange& range) {
  std::string words;
  const auto add = [&](const char* sign, const std::optional<double>& bound) {
    if (bound) words += fmt::format("{}{} {}", words.empty() ? "" : ", ", sign, *bound);
  };
  add(">=", range.least);
  add(">", range.above);
  add("<=", range.most);
  add("<", range.below);
  return words;
}

bool OptionRange::holds(double value) const {
  // Written so that NaN is out of every range.
  return (!least || value >= *least) && (!above || value > *above) && (!most || value <= *most) &&
         (!below || value < *below);
}

namespace {

constexpr const char* kEntryPlaceholder = "NAME[:KEY=VALUE]...";

/// Throws: OptionError for a text that is not taken.
std::string as_kept(const OptionText& text, const std::string& given, const std::string& place,
                    const std::string& name) {
  if (!text.words.empty() && std::ranges::find(text.words, given) == text.words.end()) {
    throw OptionError(
        place, name,
        fmt::format("'{}' given, expected {}", printable(given), fmt::join(text.words, " or ")));
  }
  if (!text.read) return given;
  try {
    return text.read(given);
  } catch (const ValueError& error) {
    throw OptionError(place, name, std::string(error.what()));
  }
}

std::string placeholder_of(const OptionText& text) {
  return text.words.empty() ? text.placeholder : fmt::format("{}", fmt::join(text.words, "|"));
}

/// The unit of sizes, which are read as 25MiB, too.
constexpr std::string_view kBytes = "byte";

/// Throws: OptionError for a text that is no number of bytes.
std::int64_t bytes_of(const Settings& settings, const std::string& name, std::int64_t fallback) {
  const std::string text = settings.text(name, "");
  if (!text.ends_with('B') && !settings.is_text(name)) return settings.integer(name, fallback);
  try {
    return std::int64_t(byte_count(text));
  } catch (const ValueError&) {
    throw OptionError(settings.place_of(name), name, text, "bytes, such as 512MiB, 2GB or 4096");
  }
}

std::vector<std::string> between_commas(const std::string& text) {
  std::vector<std::string> words;
  for (const auto word : std::views::split(text, ',')) words.emplace_back(word.begin(), word.end());
  return words;
}

}  // namespace

void OptionList::check_range(const Option& option, double value, const OptionRange& range) const {
  const bool holds = range.holds(value);
  if (holds && (std::isfinite(value) || !settings_.has(option.name))) return;
  const bool is_number = option.type.starts_with("number");
  const char* kind = holds ? "a finite number" : is_number ? "a number" : "an integer";
  throw OptionError(settings_.place_of(option.name), option.name, fmt::format("{}", value),
                    fmt::format("{}{}{}", kind, option.range.empty() ? "" : " ", option.range));
}

Option& OptionList::add_number(std::string name, const char* type, std::string initial,
                               std::string help, const OptionRange& range) {
  std::string placeholder = range.unit.empty() ? "N" : range.unit;
  if (range.unit == kBytes) placeholder = "size";
  std::ranges::transform(placeholder, placeholder.begin(),
                         [](unsigned char letter) { return char(std::toupper(letter)); });
  return options_.emplace_back(std::move(name), type, std::move(initial), to_string(range),
                               std::move(help), std::move(placeholder));
}

Option& OptionList::add(std::string name, double& value, std::string help, OptionRange range) {
  Option& option =
      add_number(std::move(name), "number", fmt::format("{}", value), std::move(help), range);
  value = settings_.number(option.name, value);
  check_range(option, value, range);
  numbers_.push_back({option.name, &value, range});
  return option;
}

Option& OptionList::add(std::string name, std::int64_t& value, std::string help,
                        OptionRange range) {
  Option& option =
      add_number(std::move(name), "integer", fmt::format("{}", value), std::move(help), range);
  value = range.unit == kBytes ? bytes_of(settings_, option.name, value)
                               : settings_.integer(option.name, value);
  check_range(option, double(value), range);
  return option;
}

Option& OptionList::add(std::string name, int& value, std::string help, OptionRange range) {
  std::int64_t wide = value;
  Option& option = add(std::move(name), wide, std::move(help), std::move(range));
  if (!std::in_range<int>(wide)) {
    throw OptionError(settings_.place_of(option.name), option.name, std::to_string(wide),
                      "an integer of 32 bits");
  }
  value = static_cast<int>(wide);
  return option;
}

Option& OptionList::add(std::string name, std::uint64_t& value, std::string help) {
  Option& option = add_number(std::move(name), "integer", fmt::format("{}", value), std::move(help),
                              {.least = 0});
  value = settings_.natural(option.name, value);
  return option;
}

Option& OptionList::add(std::string name, bool& value, std::string help) {
  Option& option =
      options_.emplace_back(std::move(name), "flag", fmt::format("{}", value), "", std::move(help));
  value = settings_.flag(option.name, value);
  return option;
}

Option& OptionList::add(std::string name, std::string& value, std::string help,
                        const OptionText& text) {
  const std::string placeholder = placeholder_of(text);
  Option& option = options_.emplace_back(std::move(name), text.words.empty() ? "text" : placeholder,
                                         value, "", std::move(help), placeholder);
  value = settings_.text(option.name, value);
  if (settings_.has(option.name)) {
    value = as_kept(text, value, settings_.place_of(option.name), option.name);
  }
  return option;
}

Option& OptionList::add(std::string name, std::vector<std::string>& values, std::string help,
                        const OptionText& text) {
  Option& option =
      options_.emplace_back(std::move(name), "texts", fmt::format("{}", fmt::join(values, ",")), "",
                            std::move(help), placeholder_of(text) + ",...", true);
  if (!settings_.has(option.name)) return option;
  values = between_commas(settings_.text(option.name, ""));
  for (std::string& value : values) {
    value = as_kept(text, value, settings_.place_of(option.name), option.name);
  }
  return option;
}

template <class T, class Read>
Option& OptionList::add_numbers(std::string name, const char* type, std::vector<T>& values,
                                std::string help, const OptionRange& range, const Read& read) {
  Option& option = add_number(std::move(name), type, fmt::format("{}", fmt::join(values, ",")),
                              std::move(help), range);
  option.placeholder += ",...";
  option.is_list = true;
  if (!settings_.has(option.name)) return option;
  values.clear();
  for (const std::string& text : between_commas(settings_.text(option.name, ""))) {
    Settings one(settings_.place_of(option.name));
    one.set(option.name, Settings::Value(text, settings_.is_text(option.name)));
    values.push_back(read(one, option.name));
    check_range(option, double(values.back()), range);
  }
  return option;
}

Option& OptionList::add(std::string name, std::vector<double>& values, std::string help,
                        OptionRange range) {
  return add_numbers(
      std::move(name), "numbers", values, std::move(help), range,
      [](const Settings& one, const std::string& key) { return one.number(key, 0); });
}

Option& OptionList::add(std::string name, std::vector<std::int64_t>& values, std::string help,
                        OptionRange range) {
  return add_numbers(
      std::move(name), "integers", values, std::move(help), range,
      [](const Settings& one, const std::string& key) { return one.integer(key, 0); });
}

Option& OptionList::add(std::string name, EntryChoice& value, std::string help, std::string kind) {
  Option& option = options_.emplace_back(std::move(name), std::move(kind), to_words(value), "",
                                         std::move(help), kEntryPlaceholder);
  choices_.push_back(option.name);
  Settings below = settings_.below(option.name);
  if (settings_.has(option.name)) {
    EntryChoice given = entry_of_words(option.type, settings_.text(option.name, ""));
    value.name = given.name;
    for (const auto& [key, text] : given.settings.values()) {
      if (!below.has(key)) below.set(key, text);
    }
  } else if (below.values().empty()) {
    return option;
  }
  value.name = below.take("name", value.name);
  value.settings = std::move(below);
  return option;
}

Option& OptionList::add(std::string name, std::vector<EntryChoice>& values, std::string help,
                        std::string kind) {
  std::vector<std::string> words;
  for (const EntryChoice& value : values) words.push_back(to_words(value));
  Option& option =
      options_.emplace_back(std::move(name), kind + "s", fmt::format("{}", fmt::join(words, ",")),
                            "", std::move(help), fmt::format("{},...", kEntryPlaceholder), true);
  const std::string& key = option.name;
  choices_.push_back(key);
  const Settings below = settings_.below(key);
  if (!settings_.has(key) && below.values().empty()) return option;
  values.clear();
  if (const std::string text = settings_.text(key, ""); !text.empty()) {
    for (const auto& word : between_commas(text)) values.push_back(entry_of_words(kind, word));
  }
  std::size_t known = 0;
  for (std::size_t i = 0; known < below.values().size(); ++i) {
    const std::string place = std::to_string(i);
    EntryChoice choice{below.text(place, ""), below.below(place)};
    known += choice.settings.values().size() + (below.has(place) ? 1 : 0);
    choice.name = choice.settings.take("name", choice.name);
    if (choice.name.empty()) {
      const auto keys = std::views::keys(choice.settings.values());
      throw ValueError(fmt::format(
          "{}: option {}: entry {} (they count from 0) has no name, which is its {}{}",
          settings_.place_of(key), key, i, kind,
          keys.empty() ? std::string() : fmt::format("; it has {}", fmt::join(keys, ", "))));
    }
    values.push_back(std::move(choice));
  }
  return option;
}

std::size_t OptionList::choose(std::string name, std::size_t value, std::string help,
                               std::span<const char* const> words) {
  const std::string type = fmt::format("{}", fmt::join(words, "|"));
  options_.push_back({std::move(name), type, words[value], "", std::move(help), type});
  const std::string given = settings_.text(options_.back().name, words[value]);
  const auto place = std::ranges::find(words, given);
  if (place == words.end()) {
    const std::string& key = options_.back().name;
    throw OptionError(settings_.place_of(key), key, given,
                      fmt::format("{}", fmt::join(words, " or ")));
  }
  return static_cast<std::size_t>(place - words.begin());
}

void OptionList::expect_all_known() const {
  const auto is_known = [&](const std::string& name) {
    return std::ranges::find(options_, name, &Option::name) != options_.end() ||
           std::ranges::find(choices_, name.substr(0, name.find('.'))) != choices_.end();
  };
  for (const auto& [name, value] : settings_.values()) {
    if (is_known(name)) continue;
    std::vector<std::string> known;
    for (const auto& option : options_) known.push_back(option.name);
    throw UnknownOption(detail::unknown_name(settings_.place_of(name) + ": option", name, known));
  }
}

}  // namespace d5
