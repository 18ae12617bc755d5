// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "d5/evaluation/manifest/manifest_fields.hpp"

namespace d5::detail {

/// Writes the members that `declare` declares as a JSON object.
class ManifestWriter final : public ManifestFields {
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

  /// `value` without the members that equal those of `fresh`, so that an explicit default has the
  /// same form as a missing one. Required members stay.
  [[nodiscard]] static nlohmann::json without_defaults(ManifestWriter& value,
                                                       const ManifestWriter& fresh);

 protected:
  void add_entries(const std::string& name, std::vector<EntryChoice>& values,
                   const std::string& help, const FieldRule& rule, const EntryKind& kind) override;
  void add_parts(const std::string& name, const std::string& help, const FieldRule& rule,
                 const PartList& parts) override;

 private:
  void put(const std::string& name, nlohmann::json value, const FieldRule& rule);

  nlohmann::json object_ = nlohmann::json::object();
  std::set<std::string> required_;
};

}  // namespace d5::detail
