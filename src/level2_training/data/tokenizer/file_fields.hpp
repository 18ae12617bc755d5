// SPDX-License-Identifier: Apache-2.0
// Fields of a tokenizer.json, which writes null for those that are not given.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "core/parsing/json_reader.hpp"

namespace d5::detail {

[[nodiscard]] inline bool has_value(const JsonReader& reader, const char* name) {
  const nlohmann::json* field = reader.field(name);
  return field && !field->is_null();
}

[[nodiscard]] inline std::optional<std::string> text_or_none(const JsonReader& reader,
                                                             const char* name) {
  if (!has_value(reader, name)) return std::nullopt;
  return reader.text(name);
}

/// Throws: FormatError.
[[nodiscard]] inline bool flag(const JsonReader& reader, const char* name, bool fallback) {
  if (!has_value(reader, name)) return fallback;
  const nlohmann::json& field = *reader.field(name);
  if (!field.is_boolean()) reader.fail(name, "is no boolean", "true, false or null");
  return field.get<bool>();
}

}  // namespace d5::detail
