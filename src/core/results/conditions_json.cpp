// SPDX-License-Identifier: Apache-2.0
#include "core/results/conditions_json.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/parsing/json_reader.hpp"
#include "core/results/record_words.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kField = "conditions";

Json plain_value(const Condition& condition) {
  const auto* real = std::get_if<double>(&condition.value);
  if (real && !std::isfinite(*real)) {
    return std::isnan(*real) ? "NaN" : *real > 0 ? "Infinity" : "-Infinity";
  }
  return std::visit([](const auto& value) -> Json { return value; }, condition.value);
}

/// A number with a unit is an object; so is NaN or infinity, which JSON cannot represent.
Json value_json(const Condition& condition) {
  const Json value = plain_value(condition);
  const bool is_text = std::holds_alternative<std::string>(condition.value);
  if (condition.unit.empty() && value.is_string() == is_text) return value;
  return {{"value", value}, {"unit", condition.unit}};
}

Condition::Value number_from(const nlohmann::json& json) {
  if (json.is_number_integer()) return json.get<std::int64_t>();
  if (json.is_number()) return json.get<double>();
  if (json == "NaN") return std::nan("");
  if (json == "Infinity") return HUGE_VAL;
  return -HUGE_VAL;
}

Condition condition_from(const JsonReader& record, const std::string& place,
                         const nlohmann::json& json, Role role) {
  if (json.is_string()) return {json.get<std::string>(), role};
  if (json.is_number()) return {number_from(json), role};
  if (json.is_object() && json.contains("value") && json.contains("unit")) {
    const auto& value = json.at("value");
    const bool is_number =
        value.is_number() || value == "NaN" || value == "Infinity" || value == "-Infinity";
    if (is_number && json.at("unit").is_string()) {
      return {number_from(value), role, json.at("unit").get<std::string>()};
    }
  }
  record.fail(place, "is " + json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
              "a text, a number, or an object of value and unit");
}

}  // namespace

Json to_json(const Conditions& conditions) {
  Json json = Json::object();
  for (const std::string_view role : kRoles) {
    for (const auto& [name, condition] : conditions) {
      if (name_of(condition.role) == role) json[std::string(role)][name] = value_json(condition);
    }
  }
  return json;
}

Conditions conditions_in(const JsonReader& record) {
  const nlohmann::json* const field = record.field(kField);
  if (!field) return {};
  if (!field->is_object())
    record.fail(kField, "is not an object", "an object of conditions by role");
  Conditions conditions;
  for (const auto& [name, json] : field->items()) {
    const std::string place = fmt::format("{}.{}", kField, printable(name));
    if (json.is_string()) {
      conditions[name] = condition_of_schema2(name, json.get<std::string>());
      continue;
    }
    const auto role = std::ranges::find(kRoles, name);
    if (role == kRoles.end() || !json.is_object()) {
      record.fail(place, "is " + std::string(json.type_name()),
                  fmt::format("an object of conditions below one of the roles {}",
                              fmt::join(kRoles, ", ")));
    }
    for (const auto& [inner, value] : json.items()) {
      conditions[inner] = condition_from(record, place + "." + printable(inner), value,
                                         Role(role - kRoles.begin()));
    }
  }
  return conditions;
}

Conditions conditions_from_json(const std::string& text, const std::string& who) {
  return conditions_in(JsonReader(fmt::format(R"({{"{}":{}}})", kField, text), who));
}

}  // namespace d5::detail
