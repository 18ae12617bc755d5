// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "d5/evaluation/manifest/manifest_fields.hpp"

namespace d5::detail {

/// Makes the JSON Schema of what `declare` declares.
class ManifestSchema final : public ManifestFields {
 public:
  void add(const std::string& name, std::string& value, const std::string& help,
           const FieldRule& rule) override;
  void add(const std::string& name, double& value, const std::string& help,
           const FieldRule& rule) override;
  void add(const std::string& name, std::optional<double>& value, const std::string& help,
           const FieldRule& rule) override;
  void add(const std::string& name, std::int64_t& value, const std::string& help,
           const FieldRule& rule) override;
  void add(const std::string& name, bool& value, const std::string& help,
           const FieldRule& rule) override;
  void add(const std::string& name, std::vector<std::string>& values, const std::string& help,
           const FieldRule& rule) override;
  void add(const std::string& name, std::vector<std::int64_t>& values, const std::string& help,
           const FieldRule& rule) override;
  void add(const std::string& name, std::map<std::string, std::string>& values,
           const std::string& help, const FieldRule& rule) override;

  /// An object with these members and no others.
  [[nodiscard]] nlohmann::ordered_json object() const;

 protected:
  void add_entries(const std::string& name, std::vector<EntryChoice>& values,
                   const std::string& help, const FieldRule& rule, const EntryKind& kind) override;
  void add_parts(const std::string& name, const std::string& help, const FieldRule& rule,
                 const PartList& parts) override;

 private:
  void put(const std::string& name, const std::string& help, const FieldRule& rule,
           nlohmann::ordered_json schema);
  nlohmann::ordered_json properties_ = nlohmann::ordered_json::object();
  nlohmann::ordered_json required_ = nlohmann::ordered_json::array();
};

}  // namespace d5::detail
