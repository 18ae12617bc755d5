// SPDX-License-Identifier: Apache-2.0
#include "core/parsing/json_reader.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/parsing/json_depth.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

using Json = nlohmann::json;

std::string kind_of(const Json& json) {
  switch (json.type()) {
    case Json::value_t::null:
      return "is null";
    case Json::value_t::object:
      return "is an object";
    case Json::value_t::array:
      return "is a list";
    case Json::value_t::string:
      return fmt::format("is the text '{}'", printable(json.get_ref<const std::string&>()));
    case Json::value_t::boolean:
      return "is a boolean";
    default:
      return "is the number " + json.dump();
  }
}

std::optional<double> number_in(const Json& json) {
  if (json.is_number()) return json.get<double>();
  if (json == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (json == "Infinity") return std::numeric_limits<double>::infinity();
  if (json == "-Infinity") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

constexpr const char* kNumber = "a number, \"NaN\", \"Infinity\" or \"-Infinity\"";

std::shared_ptr<const Json> parse(const std::string& text, const std::string& who) {
  expect_shallow_json(text, who);
  try {
    return std::make_shared<const Json>(Json::parse(text));
  } catch (const Json::parse_error& error) {
    throw FormatError(fmt::format("{}: invalid JSON at byte {}; the file is truncated or damaged",
                                  who, error.byte));
  } catch (const Json::out_of_range&) {
    throw FormatError(fmt::format("{}: a number is too large for any type", who));
  }
}

}  // namespace

JsonReader::JsonReader(const std::string& text, std::string who)
    : root_(parse(text, who)), here_(root_.get()), who_(std::move(who)) {
  if (!here_->is_object()) fail("the file", kind_of(*here_), "an object");
}

JsonReader::JsonReader(std::shared_ptr<const Json> root, const Json* here, std::string who,
                       std::string place)
    : root_(std::move(root)), here_(here), who_(std::move(who)), place_(std::move(place)) {}

void JsonReader::fail(const std::string& name, const std::string& given,
                      const std::string& expected) const {
  throw FormatError(fmt::format("{}: {}{}{} {}, expected {}", who_, place_,
                                place_.empty() ? "" : ".", name, given, expected));
}

const Json* JsonReader::find(const char* name, bool required) const {
  const auto field = here_->find(name);
  if (field != here_->end()) return &*field;
  if (required) fail(name, "is missing", "this field");
  return nullptr;
}

std::string JsonReader::text(const char* name, std::optional<std::string> fallback) const {
  const Json* field = find(name, !fallback);
  if (!field) return *fallback;
  if (!field->is_string()) fail(name, kind_of(*field), "a text");
  return field->get<std::string>();
}

int JsonReader::integer(const char* name, std::optional<int> fallback) const {
  const Json* field = find(name, !fallback);
  if (!field) return *fallback;
  constexpr auto kMost = std::numeric_limits<int>::max();
  if (!field->is_number_integer() || *field > kMost || *field < 0) {
    fail(name, kind_of(*field), fmt::format("an integer from 0 to {}", kMost));
  }
  return field->get<int>();
}

std::int64_t JsonReader::whole(const char* name, double least, double most,
                               std::optional<double> fallback) const {
  const double value = number(name, fallback);
  if (value != std::floor(value) || !(value >= least && value <= most)) {
    fail(name, fmt::format("is {}", value), fmt::format("a whole number of {} to {}", least, most));
  }
  return static_cast<std::int64_t>(value);
}

double JsonReader::number(const char* name, std::optional<double> fallback) const {
  const Json* field = find(name, !fallback);
  if (!field) return *fallback;
  if (const auto value = number_in(*field)) return *value;
  fail(name, kind_of(*field), kNumber);
}

std::size_t JsonReader::choice(const char* name, std::span<const std::string_view> words) const {
  const Json* field = find(name, true);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (field->is_string() && field->get_ref<const std::string&>() == words[i]) return i;
  }
  fail(name, kind_of(*field), fmt::format("one of {}", fmt::join(words, ", ")));
}

std::vector<std::string> JsonReader::texts(const char* name) const {
  const Json* field = find(name, false);
  if (!field) return {};
  if (!field->is_array()) fail(name, kind_of(*field), "a list of texts");
  std::vector<std::string> result;
  for (const auto& entry : *field) {
    if (!entry.is_string()) {
      fail(fmt::format("{}[{}]", name, result.size()), kind_of(entry), "a text");
    }
    result.push_back(entry.get<std::string>());
  }
  return result;
}

std::map<std::string, std::string> JsonReader::texts_by_name(const char* name) const {
  const Json* field = find(name, false);
  if (!field) return {};
  if (!field->is_object()) fail(name, kind_of(*field), "an object of texts");
  std::map<std::string, std::string> result;
  for (const auto& [key, entry] : field->items()) {
    if (!entry.is_string())
      fail(fmt::format("{}.{}", name, printable(key)), kind_of(entry), "a text");
    result[key] = entry.get<std::string>();
  }
  return result;
}

std::vector<double> JsonReader::numbers(const char* name) const {
  const Json* field = find(name, true);
  if (!field->is_array()) fail(name, kind_of(*field), "a list of numbers");
  std::vector<double> result;
  for (const auto& entry : *field) {
    const auto value = number_in(entry);
    if (!value) fail(fmt::format("{}[{}]", name, result.size()), kind_of(entry), kNumber);
    result.push_back(*value);
  }
  return result;
}

JsonReader JsonReader::object(const char* name) const {
  const Json* field = find(name, true);
  if (!field->is_object()) fail(name, kind_of(*field), "an object");
  return {root_, field, who_, place_.empty() ? name : place_ + "." + name};
}

std::vector<JsonReader> JsonReader::objects(const char* name) const {
  const Json* field = find(name, true);
  if (!field->is_array()) fail(name, kind_of(*field), "a list of objects");
  std::vector<JsonReader> result;
  for (const auto& entry : *field) {
    const std::string place = fmt::format("{}[{}]", name, result.size());
    if (!entry.is_object()) fail(place, kind_of(entry), "an object");
    result.push_back({root_, &entry, who_, place_.empty() ? place : place_ + "." + place});
  }
  return result;
}

}  // namespace d5::detail
