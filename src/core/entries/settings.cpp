// SPDX-License-Identifier: Apache-2.0
#include "d5/core/entries/settings.hpp"

#include <fmt/format.h>

#include <charconv>

namespace d5 {
namespace {

template <class T>
T parse(const Settings& settings, std::string_view name, const std::string& text,
        std::string_view expected) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw OptionError(settings.place_of(name), name, text, expected);
  }
  return value;
}

}  // namespace

OptionError::OptionError(const std::string& place, std::string_view name, const std::string& given,
                         std::string_view expected)
    : ValueError(fmt::format("{}: option {} is '{}', expected {}", place, name, printable(given),
                             expected)),
      fault_(fmt::format("'{}' given, expected {}", printable(given), expected)) {}

OptionError::OptionError(const std::string& place, std::string_view name, std::string fault)
    : ValueError(fmt::format("{}: option {}: {}", place, name, fault)), fault_(std::move(fault)) {}

Settings::Value::Value(double value) : text(fmt::format("{}", value)) {}

Settings::Settings(std::initializer_list<std::pair<std::string, Value>> values) {
  for (const auto& [name, value] : values) set(name, value);
}

Settings::Settings(std::string who, std::map<std::string, std::string, std::less<>> values)
    : who_(std::move(who)), values_(std::move(values)) {}

void Settings::set(std::string name, Value value, std::string place) {
  places_[name] = std::move(place);
  if (value.is_text) {
    texts_.insert(name);
  } else {
    texts_.erase(name);
  }
  values_[std::move(name)] = std::move(value.text);
}

std::string Settings::take(std::string_view name, std::string_view fallback) {
  const auto place = values_.find(name);
  if (place == values_.end()) return std::string(fallback);
  std::string text = std::move(place->second);
  values_.erase(place);
  places_.erase(std::string(name));
  texts_.erase(std::string(name));
  return text;
}

bool Settings::has(std::string_view name) const { return lookup(name) != nullptr; }

const std::string* Settings::lookup(std::string_view name) const {
  const auto place = values_.find(name);
  return place == values_.end() ? nullptr : &place->second;
}

/// Throws: TypeError for a value in quotes.
const std::string* Settings::lookup_number(std::string_view name, std::string_view expected) const {
  const std::string* text = lookup(name);
  if (!text || !is_text(name)) return text;
  throw TypeError(fmt::format("{}: option {} is the text '{}', expected {}", place_of(name), name,
                              printable(*text), expected));
}

double Settings::number(std::string_view name, double fallback) const {
  const std::string* text = lookup_number(name, "a number");
  return text ? parse<double>(*this, name, *text, "a number") : fallback;
}

std::int64_t Settings::integer(std::string_view name, std::int64_t fallback) const {
  const std::string* text = lookup_number(name, "an integer");
  return text ? parse<std::int64_t>(*this, name, *text, "an integer") : fallback;
}

std::uint64_t Settings::natural(std::string_view name, std::uint64_t fallback) const {
  const std::string* text = lookup_number(name, "an integer from 0");
  return text ? parse<std::uint64_t>(*this, name, *text, "an integer from 0") : fallback;
}

bool Settings::flag(std::string_view name, bool fallback) const {
  const std::string* text = lookup_number(name, "true or false");
  if (!text) return fallback;
  if (*text == "true" || *text == "yes" || *text == "on" || *text == "1") return true;
  if (*text == "false" || *text == "no" || *text == "off" || *text == "0") return false;
  throw OptionError(place_of(name), name, *text, "true or false");
}

std::string Settings::text(std::string_view name, std::string_view fallback) const {
  const std::string* text = lookup(name);
  return text ? *text : std::string(fallback);
}

Settings Settings::below(std::string_view name) const {
  const std::string prefix = std::string(name) + ".";
  Settings result(who_.empty() ? std::string(name) : fmt::format("{}: {}", who_, name));
  for (auto it = values_.lower_bound(prefix); it != values_.end() && it->first.starts_with(prefix);
       ++it) {
    const auto place = places_.find(it->first);
    result.set(it->first.substr(prefix.size()), Value(it->second, is_text(it->first)),
               place == places_.end() ? "" : place->second);
  }
  return result;
}

std::string Settings::place_of(std::string_view name) const {
  const std::string owner = who_.empty() ? "settings" : who_;
  const auto place = places_.find(name);
  return place == places_.end() || place->second.empty() ? owner : place->second + ": " + owner;
}

Settings Settings::owned_by(std::string_view who) const {
  Settings result = *this;
  if (who_.empty()) result.who_ = who;
  return result;
}

}  // namespace d5
