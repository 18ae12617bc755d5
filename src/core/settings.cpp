// SPDX-License-Identifier: Apache-2.0
#include "d5/core/settings.hpp"

#include <fmt/format.h>

#include <charconv>

#include "d5/core/error.hpp"
#include "d5/core/registry.hpp"

namespace d5 {
namespace {

template <class T>
T parse(const std::string& who, std::string_view name, const std::string& text,
        std::string_view expected) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw ValueError(
        fmt::format("{}: option {} is '{}', expected {}", who, name, printable(text), expected));
  }
  return value;
}

}  // namespace

Settings::Settings(std::string who, std::map<std::string, std::string, std::less<>> values)
    : who_(std::move(who)), values_(std::move(values)) {}

void Settings::set(std::string name, std::string value) {
  values_[std::move(name)] = std::move(value);
}

bool Settings::has(std::string_view name) const { return lookup(name) != nullptr; }

const std::string* Settings::lookup(std::string_view name) const {
  known_.emplace(name);
  const auto place = values_.find(name);
  return place == values_.end() ? nullptr : &place->second;
}

double Settings::number(std::string_view name, double fallback) const {
  const std::string* text = lookup(name);
  return text ? parse<double>(who_, name, *text, "a number") : fallback;
}

std::int64_t Settings::integer(std::string_view name, std::int64_t fallback) const {
  const std::string* text = lookup(name);
  return text ? parse<std::int64_t>(who_, name, *text, "an integer") : fallback;
}

bool Settings::flag(std::string_view name, bool fallback) const {
  const std::string* text = lookup(name);
  if (!text) return fallback;
  if (*text == "true" || *text == "yes" || *text == "on" || *text == "1") return true;
  if (*text == "false" || *text == "no" || *text == "off" || *text == "0") return false;
  throw ValueError(
      fmt::format("{}: option {} is '{}', expected true or false", who_, name, printable(*text)));
}

std::string Settings::text(std::string_view name, std::string_view fallback) const {
  const std::string* text = lookup(name);
  return text ? *text : std::string(fallback);
}

std::string Settings::required_text(std::string_view name) const {
  if (const std::string* text = lookup(name)) return *text;
  throw NotFound(fmt::format("{}: option {} is missing", who_, name));
}

void Settings::expect_all_read() const {
  for (const auto& [name, value] : values_) {
    if (!known_.contains(name)) {
      throw_unknown_name(who_ + ": option", name, {known_.begin(), known_.end()});
    }
  }
}

}  // namespace d5
