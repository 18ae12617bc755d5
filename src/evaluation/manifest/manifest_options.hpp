// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/evaluation/manifest/manifest_fields.hpp"

namespace d5::detail {

/// Fields of a manifest as options for a command line or keywords. Entries are checked when they
/// are made, because plug-ins may add them. Fields that a word cannot express (texts by name,
/// numbers without default, nested parts) are not options.
class ManifestOptions final : public ManifestFields {
 public:
  explicit ManifestOptions(OptionList& options) : options_(options) {}

  void add(const std::string& name, std::string& value, const std::string& help,
           const FieldRule& rule) override {
    options_.add(name, value, help, text_of(rule)).flag = rule.flag;
  }
  void add(const std::string& name, double& value, const std::string& help,
           const FieldRule& rule) override {
    options_.add(name, value, help, rule.range).flag = rule.flag;
  }
  void add(const std::string&, std::optional<double>&, const std::string&,
           const FieldRule&) override {}
  void add(const std::string& name, std::int64_t& value, const std::string& help,
           const FieldRule& rule) override {
    options_.add(name, value, help, rule.range).flag = rule.flag;
  }
  void add(const std::string& name, bool& value, const std::string& help,
           const FieldRule& rule) override {
    options_.add(name, value, help).flag = rule.flag;
  }
  void add(const std::string& name, std::vector<std::string>& values, const std::string& help,
           const FieldRule& rule) override {
    options_.add(name, values, help, text_of(rule)).flag = rule.flag;
  }
  void add(const std::string& name, std::vector<std::int64_t>& values, const std::string& help,
           const FieldRule& rule) override {
    options_.add(name, values, help, rule.range).flag = rule.flag;
  }
  void add(const std::string&, std::map<std::string, std::string>&, const std::string&,
           const FieldRule&) override {}

 protected:
  void add_entries(const std::string& name, std::vector<EntryChoice>& values,
                   const std::string& help, const FieldRule& rule, const EntryKind& kind) override {
    options_.add(name, values, help, kind.kind).flag = rule.flag;
  }
  void add_parts(const std::string&, const std::string&, const FieldRule&,
                 const PartList&) override {}

 private:
  static OptionText text_of(const FieldRule& rule) {
    return {.placeholder = "NAME", .words = rule.words};
  }

  OptionList& options_;
};

}  // namespace d5::detail
