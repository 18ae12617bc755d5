// SPDX-License-Identifier: Apache-2.0
#include "evaluation/manifest/manifest_writer.hpp"

namespace d5::detail {

using nlohmann::json;

void ManifestWriter::put(const std::string& name, json value, const FieldRule& rule) {
  object_[name] = std::move(value);
  if (rule.required) required_.insert(name);
}

void ManifestWriter::add(const std::string& name, std::string& value, const std::string&,
                         const FieldRule& rule) {
  put(name, value, rule);
}
void ManifestWriter::add(const std::string& name, double& value, const std::string&,
                         const FieldRule& rule) {
  put(name, value, rule);
}
void ManifestWriter::add(const std::string& name, std::optional<double>& value, const std::string&,
                         const FieldRule& rule) {
  if (value) put(name, *value, rule);
}
void ManifestWriter::add(const std::string& name, std::int64_t& value, const std::string&,
                         const FieldRule& rule) {
  put(name, value, rule);
}
void ManifestWriter::add(const std::string& name, bool& value, const std::string&,
                         const FieldRule& rule) {
  put(name, value, rule);
}
void ManifestWriter::add(const std::string& name, std::vector<std::string>& values,
                         const std::string&, const FieldRule& rule) {
  put(name, values, rule);
}
void ManifestWriter::add(const std::string& name, std::vector<std::int64_t>& values,
                         const std::string&, const FieldRule& rule) {
  put(name, values, rule);
}
void ManifestWriter::add(const std::string& name, std::map<std::string, std::string>& values,
                         const std::string&, const FieldRule& rule) {
  put(name, values, rule);
}

void ManifestWriter::add_entries(const std::string& name, std::vector<EntryChoice>& values,
                                 const std::string&, const FieldRule& rule, const EntryKind&) {
  json list = json::array();
  for (const EntryChoice& choice : values) {
    json entry{{"name", choice.name}};
    for (const auto& [key, text] : choice.settings.values()) entry[key] = text;
    list.push_back(std::move(entry));
  }
  put(name, std::move(list), rule);
}

void ManifestWriter::add_parts(const std::string& name, const std::string&, const FieldRule& rule,
                               const PartList& parts) {
  json list = json::array();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    ManifestWriter part, fresh;
    parts.declare(i, part);
    parts.declare_fresh(fresh);
    list.push_back(without_defaults(part, fresh));
  }
  put(name, std::move(list), rule);
}

json ManifestWriter::without_defaults(ManifestWriter& value, const ManifestWriter& fresh) {
  for (const auto& [name, member] : fresh.object_.items()) {
    const bool is_told = value.required_.contains(name);
    if (!is_told && value.object_.at(name) == member) value.object_.erase(name);
  }
  return std::move(value.object_);
}

}  // namespace d5::detail
