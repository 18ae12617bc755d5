// SPDX-License-Identifier: Apache-2.0
#include "evaluation/manifest/manifest_schema.hpp"

namespace d5::detail {
namespace {

using nlohmann::ordered_json;

ordered_json text_schema(const FieldRule& rule) {
  ordered_json schema{{"type", "string"}};
  if (!rule.words.empty()) schema["enum"] = rule.words;
  if (!rule.pattern.empty()) schema["pattern"] = "^(?:" + rule.pattern + ")$";
  if (rule.required && rule.words.empty() && rule.pattern.empty()) schema["minLength"] = 1;
  return schema;
}

ordered_json number_schema(const char* type, const FieldRule& rule) {
  ordered_json schema{{"type", type}};
  const auto bound = [&](const char* name, const std::optional<double>& value) {
    if (value) schema[name] = *value;
  };
  bound("minimum", rule.range.least);
  bound("exclusiveMinimum", rule.range.above);
  bound("maximum", rule.range.most);
  bound("exclusiveMaximum", rule.range.below);
  return schema;
}

/// One value, or a list of them.
ordered_json one_or_several(const ordered_json& schema, bool is_filled = false) {
  ordered_json several{{"type", "array"}, {"items", schema}};
  if (is_filled) several["minItems"] = 1;
  return {{"anyOf", {schema, several}}};
}

/// A value of a YAML file that is read as text.
ordered_json plain_value() { return {{"type", {"string", "number", "boolean"}}}; }

}  // namespace

void ManifestSchema::put(const std::string& name, const std::string& help, const FieldRule& rule,
                         ordered_json schema) {
  schema["description"] = help;
  properties_[name] = std::move(schema);
  if (rule.required) required_.push_back(name);
}

void ManifestSchema::add(const std::string& name, std::string& value, const std::string& help,
                         const FieldRule& rule) {
  ordered_json schema = text_schema(rule);
  if (!rule.required && !value.empty()) schema["default"] = value;
  put(name, help, rule, std::move(schema));
}
void ManifestSchema::add(const std::string& name, double& value, const std::string& help,
                         const FieldRule& rule) {
  ordered_json schema = number_schema("number", rule);
  if (!rule.required) schema["default"] = value;
  put(name, help, rule, std::move(schema));
}
void ManifestSchema::add(const std::string& name, std::optional<double>&, const std::string& help,
                         const FieldRule& rule) {
  put(name, help, rule, number_schema("number", rule));
}
void ManifestSchema::add(const std::string& name, std::int64_t& value, const std::string& help,
                         const FieldRule& rule) {
  ordered_json schema = number_schema("integer", rule);
  if (!rule.required) schema["default"] = value;
  put(name, help, rule, std::move(schema));
}
void ManifestSchema::add(const std::string& name, bool& value, const std::string& help,
                         const FieldRule& rule) {
  put(name, help, rule, {{"type", "boolean"}, {"default", value}});
}
void ManifestSchema::add(const std::string& name, std::vector<std::string>& values,
                         const std::string& help, const FieldRule& rule) {
  put(name, help, rule, one_or_several(text_schema(rule), !values.empty()));
}
void ManifestSchema::add(const std::string& name, std::vector<std::int64_t>& values,
                         const std::string& help, const FieldRule& rule) {
  put(name, help, rule, one_or_several(number_schema("integer", rule), !values.empty()));
}
void ManifestSchema::add(const std::string& name, std::map<std::string, std::string>&,
                         const std::string& help, const FieldRule& rule) {
  ordered_json value =
      rule.pattern.empty() && rule.words.empty() ? plain_value() : text_schema(rule);
  put(name, help, rule, {{"type", "object"}, {"additionalProperties", std::move(value)}});
}

void ManifestSchema::add_entries(const std::string& name, std::vector<EntryChoice>&,
                                 const std::string& help, const FieldRule& rule, const EntryKind&) {
  const ordered_json entry{
      {"anyOf",
       {{{"type", "string"}, {"minLength", 1}},
        {{"type", "object"},
         {"required", {"name"}},
         {"properties", {{"name", {{"type", "string"}, {"minLength", 1}}}}}}}}};
  put(name, help, rule, one_or_several(entry));
}

void ManifestSchema::add_parts(const std::string& name, const std::string& help,
                               const FieldRule& rule, const PartList& parts) {
  ManifestSchema part;
  parts.declare_fresh(part);
  ordered_json schema{{"type", "array"}, {"items", part.object()}};
  if (rule.required) schema["minItems"] = 1;
  put(name, help, rule, std::move(schema));
}

ordered_json ManifestSchema::object() const {
  ordered_json schema{{"type", "object"}, {"additionalProperties", false}};
  if (!required_.empty()) schema["required"] = required_;
  schema["properties"] = properties_;
  return schema;
}

}  // namespace d5::detail
