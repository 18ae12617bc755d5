// SPDX-License-Identifier: Apache-2.0
#include "d5/core/option.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>

#include "d5/core/error.hpp"
#include "d5/core/registry.hpp"

namespace d5 {

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

std::vector<std::string> between_commas(const std::string& text) {
  std::vector<std::string> words;
  for (const auto word : std::views::split(text, ',')) words.emplace_back(word.begin(), word.end());
  return words;
}

}  // namespace

void OptionList::check_range(const Option& option, double value, const OptionRange& range) const {
  if (range.holds(value)) return;
  throw ValueError(fmt::format("{}: option {} is {}, expected {} {}",
                               settings_.place_of(option.name), option.name, value,
                               option.type == "number" ? "a number" : "an integer", option.range));
}

void OptionList::add(std::string name, double& value, std::string help, OptionRange range) {
  options_.push_back({std::move(name), "number", fmt::format("{}", value), to_string(range), help});
  value = settings_.number(options_.back().name, value);
  check_range(options_.back(), value, range);
  numbers_.push_back({options_.back().name, &value, range});
}

void OptionList::add(std::string name, std::int64_t& value, std::string help, OptionRange range) {
  options_.push_back(
      {std::move(name), "integer", fmt::format("{}", value), to_string(range), help});
  value = settings_.integer(options_.back().name, value);
  check_range(options_.back(), double(value), range);
}

void OptionList::add(std::string name, std::uint64_t& value, std::string help) {
  options_.push_back({std::move(name), "integer", fmt::format("{}", value), ">= 0", help});
  value = settings_.natural(options_.back().name, value);
}

void OptionList::add(std::string name, bool& value, std::string help) {
  options_.push_back({std::move(name), "flag", fmt::format("{}", value), "", help});
  value = settings_.flag(options_.back().name, value);
}

void OptionList::add(std::string name, std::string& value, std::string help) {
  options_.push_back({std::move(name), "text", value, "", help});
  value = settings_.text(options_.back().name, value);
}

void OptionList::add(std::string name, EntryChoice& value, std::string help, std::string kind) {
  options_.push_back({std::move(name), std::move(kind), value.name, "", help});
  const std::string& key = options_.back().name;
  choices_.push_back(key);
  value.settings = settings_.below(key);
  value.name = value.settings.take("name", settings_.text(key, value.name));
}

void OptionList::add(std::string name, std::vector<double>& values, std::string help,
                     OptionRange range) {
  options_.push_back({std::move(name), "numbers", fmt::format("{}", fmt::join(values, ",")),
                      to_string(range), std::move(help)});
  const Option& option = options_.back();
  if (!settings_.has(option.name)) return;
  values.clear();
  for (const std::string& text : between_commas(settings_.text(option.name, ""))) {
    const Settings one(settings_.place_of(option.name), {{option.name, text}});
    values.push_back(one.number(option.name, 0));
    check_range(option, values.back(), range);
  }
}

void OptionList::add(std::string name, std::vector<EntryChoice>& values, std::string help,
                     std::string kind) {
  std::vector<std::string> names;
  for (const EntryChoice& value : values) names.push_back(value.name);
  options_.push_back(
      {std::move(name), kind + "s", fmt::format("{}", fmt::join(names, ",")), "", std::move(help)});
  const std::string& key = options_.back().name;
  choices_.push_back(key);
  const Settings below = settings_.below(key);
  if (!settings_.has(key) && below.values().empty()) return;
  values.clear();
  if (const std::string text = settings_.text(key, ""); !text.empty()) {
    for (const std::string& word : between_commas(text)) values.push_back({word});
  }
  std::size_t known = 0;
  for (std::size_t i = 0; known < below.values().size(); ++i) {
    const std::string place = std::to_string(i);
    EntryChoice choice{below.text(place, ""), below.below(place)};
    known += choice.settings.values().size() + (below.has(place) ? 1 : 0);
    choice.name = choice.settings.take("name", choice.name);
    if (choice.name.empty()) {
      throw ValueError(
          fmt::format("{}: option {} has no {} in place {}; a list's places count "
                      "from 0, and each is a name, or a map with a name",
                      settings_.place_of(key), key, kind, i));
    }
    values.push_back(std::move(choice));
  }
}

std::size_t OptionList::choose(std::string name, std::size_t value, std::string help,
                               std::span<const char* const> words) {
  options_.push_back(
      {std::move(name), fmt::format("{}", fmt::join(words, "|")), words[value], "", help});
  const std::string given = settings_.text(options_.back().name, words[value]);
  const auto place = std::ranges::find(words, given);
  if (place == words.end()) {
    throw ValueError(fmt::format("{}: option {} is '{}', expected {}",
                                 settings_.place_of(options_.back().name), options_.back().name,
                                 printable(given), fmt::join(words, " or ")));
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
    throw_unknown_name(settings_.place_of(name) + ": option", name, known);
  }
}

}  // namespace d5
