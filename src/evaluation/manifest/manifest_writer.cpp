// SPDX-License-Identifier: Apache-2.0
#include "evaluation/manifest/manifest_writer.hpp"

namespace d5::detail {

using nlohmann::json;

void ManifestWriter::add(const std::string& name, std::string& value, const std::string&,
                         const FieldRule&) {
  object_[name] = value;
}
void ManifestWriter::add(const std::string& name, double& value, const std::string&,
                         const FieldRule&) {
  object_[name] = value;
}
void ManifestWriter::add(const std::string& name, std::int64_t& value, const std::string&,
                         const FieldRule&) {
  object_[name] = value;
}
void ManifestWriter::add(const std::string& name, bool& value, const std::string&,
                         const FieldRule&) {
  object_[name] = value;
}
void ManifestWriter::add(const std::string& name, std::vector<std::string>& values,
                         const std::string&, const FieldRule&) {
  object_[name] = values;
}
void ManifestWriter::add(const std::string& name, std::vector<std::int64_t>& values,
                         const std::string&, const FieldRule&) {
  object_[name] = values;
}
void ManifestWriter::add(const std::string& name, std::map<std::string, std::string>& values,
                         const std::string&, const FieldRule&) {
  object_[name] = values;
}

void ManifestWriter::add_entries(const std::string& name, std::vector<EntryChoice>& values,
                                 const std::string&, const FieldRule&, const EntryKind&) {
  json list = json::array();
  for (const EntryChoice& choice : values) {
    json entry{{"name", choice.name}};
    for (const auto& [key, text] : choice.settings.values()) entry[key] = text;
    list.push_back(std::move(entry));
  }
  object_[name] = std::move(list);
}

void ManifestWriter::add_parts(const std::string& name, const std::string&, const FieldRule&,
                               const PartList& parts) {
  json list = json::array();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    ManifestWriter part, fresh;
    parts.declare(i, part);
    parts.declare_fresh(fresh);
    list.push_back(without_defaults(part, fresh));
  }
  object_[name] = std::move(list);
}

json ManifestWriter::without_defaults(ManifestWriter& value, const ManifestWriter& fresh) {
  for (const auto& [name, member] : fresh.object_.items()) {
    if (value.object_.at(name) == member) value.object_.erase(name);
  }
  return std::move(value.object_);
}

}  // namespace d5::detail
