// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <regex>
#include <stdexcept>
#include <string>

namespace d5::testing {

/// The part of JSON Schema (2020-12) that d5's own schemas use; any other keyword throws, so that
/// none is passed over in silence.
class JsonSchema {
 public:
  explicit JsonSchema(nlohmann::json root) : root_(std::move(root)) {}

  /// The first breach of the schema, as "measurements/0/unit: ..."; empty if `value` is valid.
  [[nodiscard]] std::string breach(const nlohmann::json& value) const {
    return breach(root_, value, "");
  }

 private:
  using Json = nlohmann::json;

  static bool has_type(const Json& value, const std::string& type) {
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "integer") return value.is_number_integer();
    if (type == "number") return value.is_number();
    throw std::logic_error("type " + type);
  }

  std::string breach(const Json& schema, const Json& value, const std::string& at) const {
    if (schema.is_boolean()) return schema.get<bool>() ? "" : at + ": may not be there";
    for (const auto& [word, rule] : schema.items()) {
      const std::string found = breach(schema, word, rule, value, at);
      if (!found.empty()) return found;
    }
    return "";
  }

  std::string breach(const Json& schema, const std::string& word, const Json& rule,
                     const Json& value, const std::string& at) const {
    const std::string complaint = at + ": " + word + " " + rule.dump();
    const auto unless = [&](bool valid) { return valid ? "" : complaint; };
    if (word == "$ref") {
      return breach(root_.at(Json::json_pointer(rule.get<std::string>().substr(1))), value, at);
    }
    if (word == "type") return unless(has_type(value, rule));
    if (word == "const") return unless(value == rule);
    if (word == "enum") return unless(std::find(rule.begin(), rule.end(), value) != rule.end());
    if (word == "minimum") return unless(!value.is_number() || value >= rule);
    if (word == "minLength") {
      return unless(!value.is_string() || value.get<std::string>().size() >= rule);
    }
    if (word == "minItems") return unless(!value.is_array() || value.size() >= rule);
    if (word == "maxItems") return unless(!value.is_array() || value.size() <= rule);
    if (word == "pattern") {
      return unless(!value.is_string() || std::regex_search(value.get<std::string>(),
                                                            std::regex(rule.get<std::string>())));
    }
    if (word == "anyOf") {
      return unless(std::any_of(rule.begin(), rule.end(),
                                [&](const Json& one) { return breach(one, value, at).empty(); }));
    }
    if (word == "if") {
      const bool holds = breach(rule, value, at).empty();
      return holds || !schema.contains("else") ? "" : breach(schema["else"], value, at);
    }
    if (word == "required") {
      return unless(!value.is_object() || std::all_of(rule.begin(), rule.end(), [&](const Json& n) {
        return value.contains(n.get<std::string>());
      }));
    }
    if (word == "properties" || word == "additionalProperties" || word == "items") {
      return breach_of_parts(schema, word, rule, value, at);
    }
    for (const char* known : {"$schema", "$defs", "title", "description", "else"}) {
      if (word == known) return "";
    }
    throw std::logic_error("the test knows no keyword " + word);
  }

  std::string breach_of_parts(const Json& schema, const std::string& word, const Json& rule,
                              const Json& value, const std::string& at) const {
    if (value.is_array() != (word == "items")) return "";
    if (!value.is_structured()) return "";
    for (const auto& [name, part] : value.items()) {
      if (word == "properties" && !rule.contains(name)) continue;
      const bool is_additional =
          !schema.contains("properties") || !schema["properties"].contains(name);
      if (word == "additionalProperties" && !is_additional) continue;
      const auto found = breach(word == "properties" ? rule[name] : rule, part, at + "/" + name);
      if (!found.empty()) return found;
    }
    return "";
  }

  Json root_;
};

}  // namespace d5::testing
