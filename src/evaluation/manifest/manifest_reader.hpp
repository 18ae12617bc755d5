// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/parsing/yaml_tree.hpp"
#include "d5/evaluation/manifest/manifest.hpp"
#include "d5/evaluation/manifest/manifest_fields.hpp"

namespace d5::detail {

/// Limit for nodes: a data set may name a hundred thousand files, each with four values.
inline constexpr YamlLimits kManifestLimits{
    .bytes = std::size_t{64} << 20, .depth = 8, .nodes = 2'000'000};

/// Origin of a manifest, and the folder in which its relative paths begin.
struct ManifestSource {
  ManifestOrigin origin = ManifestOrigin::own;
  std::string beside = {};
};

/// Reads a map of a manifest into the members that `declare` declares. Faults are collected with
/// their places, so that one pass finds all of them.
class ManifestReader final : public ManifestFields {
 public:
  /// All outlive it.
  ManifestReader(const YamlNode& map, const ManifestSource& source,
                 std::vector<ManifestFault>& faults)
      : map_(map), source_(source), faults_(faults) {}

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
  void expect(const std::string& fault) override;

  /// Call once, after `declare`: reports keys that were not declared.
  void finish();

 protected:
  void add_entries(const std::string& name, std::vector<EntryChoice>& values,
                   const std::string& help, const FieldRule& rule, const EntryKind& kind) override;
  void add_parts(const std::string& name, const std::string& help, const FieldRule& rule,
                 const PartList& parts) override;

 private:
  const YamlNode* take(const std::string& name, const FieldRule& rule);
  void fault(const YamlNode& at, const std::string& what);
  bool is_scalar(const YamlNode& node, const std::string& name, const std::string& expected);
  void read_text(const YamlNode& node, const std::string& name, const FieldRule& rule,
                 std::string& value);
  bool read_integer(const YamlNode& node, const std::string& name, const FieldRule& rule,
                    std::int64_t& value);
  EntryChoice entry_of(const YamlNode& node, const std::string& kind);
  [[nodiscard]] std::string fault_of(const EntryChoice& choice, const EntryKind& kind) const;

  const YamlNode& map_;
  const ManifestSource& source_;
  std::vector<ManifestFault>& faults_;
  std::set<std::string> told_;
};

}  // namespace d5::detail
