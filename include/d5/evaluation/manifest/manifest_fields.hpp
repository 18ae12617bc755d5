// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "d5/core/entries/option.hpp"
#include "d5/core/entries/registry.hpp"

namespace d5 {

/// Constraints of a manifest's field, besides its type.
struct FieldRule {
  bool required = false;
  OptionRange range = {};               ///< range of a number
  std::vector<std::string> words = {};  ///< allowed texts
  std::string pattern = {};             ///< regular expression (ECMAScript) of the whole text
  std::string expected = {};  ///< the pattern in words, for messages: "64 hexadecimal digits"
  /// Checks a text beyond the pattern. Returns the fault, or an empty text.
  std::function<std::string(const std::string&)> fault_of = {};
  /// Whether a text names code or a place of this machine, which a fetched manifest must not do;
  /// empty: never.
  std::function<bool(const std::string&)> is_local = {};
  std::string flag = {};  ///< the program's option, if it differs from the field's name
};

/// Collects the fields of a manifest's part. A part declares each field once, with its member,
/// whose initial value is the default. The declaration serves to read a file strictly, to write the
/// canonical form, and to make the JSON Schema.
///
///     struct AccuracyClaim {
///       std::string measure;
///       double value = 0, tolerance = 0;
///       void declare(ManifestFields& fields) {
///         fields.add("measure", measure, "what was measured", {.required = true});
///         fields.add("value", value, "what the author claims", {.range = {.least = 0, .most =
///         1}});
///       }
///     };
class ManifestFields {
 public:
  virtual ~ManifestFields() = default;

  virtual void add(const std::string& name, std::string& value, const std::string& help,
                   const FieldRule& rule = {}) = 0;
  virtual void add(const std::string& name, double& value, const std::string& help,
                   const FieldRule& rule = {}) = 0;
  /// A number without default.
  virtual void add(const std::string& name, std::optional<double>& value, const std::string& help,
                   const FieldRule& rule = {}) = 0;
  virtual void add(const std::string& name, std::int64_t& value, const std::string& help,
                   const FieldRule& rule = {}) = 0;
  virtual void add(const std::string& name, bool& value, const std::string& help,
                   const FieldRule& rule = {}) = 0;
  /// A list of texts, or a single text; the rule holds for each.
  virtual void add(const std::string& name, std::vector<std::string>& values,
                   const std::string& help, const FieldRule& rule = {}) = 0;
  virtual void add(const std::string& name, std::vector<std::int64_t>& values,
                   const std::string& help, const FieldRule& rule = {}) = 0;
  /// Texts by name; the rule holds for each.
  virtual void add(const std::string& name, std::map<std::string, std::string>& values,
                   const std::string& help, const FieldRule& rule = {}) = 0;
  /// Entries in order, each a name, or a map with `name` and settings; a single one may stand
  /// without a list. The registry defines names and settings.
  template <class E>
  void add(const std::string& name, std::vector<EntryChoice>& values, const std::string& help,
           const Registry<E>& registry, const FieldRule& rule = {}) {
    EntryKind kind{.kind = registry.kind(), .fault_of = [&](const EntryChoice& choice) {
                     return fault_of(registry, choice);
                   }};
    if constexpr (requires(const E& entry) { entry.make(Settings()); }) {
      kind.options_of = [&](const std::string& entry) { return registry.at(entry).options(); };
    }
    add_entries(name, values, help, rule, kind);
  }

  /// Nested parts.
  template <class Part>
    requires requires(Part& part, ManifestFields& fields) { part.declare(fields); }
  void add(const std::string& name, std::vector<Part>& parts, const std::string& help,
           const FieldRule& rule = {}) {
    add_parts(name, help, rule,
              {.size = [&] { return parts.size(); },
               .append = [&] { parts.emplace_back(); },
               .declare = [&](std::size_t i, ManifestFields& fields) { parts[i].declare(fields); },
               .declare_fresh = [](ManifestFields& fields) { Part().declare(fields); }});
  }

  /// A fault that involves several fields: called once, after the last `add`. An empty text means
  /// none.
  virtual void expect(const std::string& fault) { (void)fault; }

 protected:
  struct PartList {
    std::function<std::size_t()> size;
    std::function<void()> append;  ///< appends one with its defaults
    std::function<void(std::size_t, ManifestFields&)> declare;
    std::function<void(ManifestFields&)>
        declare_fresh;  ///< declares the fields of one with its defaults
  };
  struct EntryKind {
    std::string kind;  ///< the word for one: "step"
    std::function<std::string(const EntryChoice&)>
        fault_of;  ///< returns an empty text if the choice is valid
    /// Options of an entry that `fault_of` makes; empty: it makes none. Throws: NotFound.
    std::function<std::vector<Option>(const std::string&)> options_of = {};
  };
  virtual void add_entries(const std::string& name, std::vector<EntryChoice>& values,
                           const std::string& help, const FieldRule& rule,
                           const EntryKind& kind) = 0;
  virtual void add_parts(const std::string& name, const std::string& help, const FieldRule& rule,
                         const PartList& parts) = 0;

 private:
  /// Checks the entry by making it, if that needs only its settings.
  template <class E>
  static std::string fault_of(const Registry<E>& registry, const EntryChoice& choice) {
    try {
      const E& entry = registry.at(choice.name);
      if constexpr (requires { entry.make(choice.settings); }) (void)entry.make(choice.settings);
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }
};

}  // namespace d5
