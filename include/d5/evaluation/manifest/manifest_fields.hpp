// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "d5/core/entries/option.hpp"
#include "d5/core/entries/registry.hpp"

namespace d5 {

/// What a field of a manifest must be, besides its type.
struct FieldRule {
  bool required = false;
  OptionRange range = {};               ///< of a number
  std::vector<std::string> words = {};  ///< of a text: it is one of these
  std::string pattern = {};   ///< of a text: a regular expression of ECMAScript, of all of it
  std::string expected = {};  ///< what messages say of the pattern: "64 hexadecimal digits"
  /// Of a text: what is wrong with it that no pattern tells; empty: nothing.
  std::function<std::string(const std::string&)> fault_of = {};
  /// Of a text: whether it names code or a place of this machine, which a manifest that was fetched
  /// must not; empty: it never does.
  std::function<bool(const std::string&)> is_local = {};
  std::string flag = {};  ///< the program's option, where it is not called as the field
};

/// What a part of a manifest is made of. A part tells each of its fields once, with the member that
/// holds it, whose initial value is the default; the same telling reads a file strictly, writes the
/// canonical form and makes the JSON Schema.
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
  virtual void add(const std::string& name, std::int64_t& value, const std::string& help,
                   const FieldRule& rule = {}) = 0;
  virtual void add(const std::string& name, bool& value, const std::string& help,
                   const FieldRule& rule = {}) = 0;
  /// A list of texts, or one text alone; the rule holds for each.
  virtual void add(const std::string& name, std::vector<std::string>& values,
                   const std::string& help, const FieldRule& rule = {}) = 0;
  virtual void add(const std::string& name, std::vector<std::int64_t>& values,
                   const std::string& help, const FieldRule& rule = {}) = 0;
  /// Texts by name; the rule holds for each.
  virtual void add(const std::string& name, std::map<std::string, std::string>& values,
                   const std::string& help, const FieldRule& rule = {}) = 0;
  /// Entries one after another, each a name, or a map with `name` and its settings; one alone may
  /// stand without the list. The registry says what names and settings there are.
  template <class E>
  void add(const std::string& name, std::vector<EntryChoice>& values, const std::string& help,
           const Registry<E>& registry, const FieldRule& rule = {}) {
    add_entries(name, values, help, rule,
                {.kind = registry.kind(), .fault_of = [&](const EntryChoice& choice) {
                   return fault_of(registry, choice);
                 }});
  }

  /// Parts within the part.
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

  /// What the fields say together that is wrong: asked once, after the last `add`. An empty text
  /// is right.
  virtual void expect(const std::string& fault) { (void)fault; }

 protected:
  struct PartList {
    std::function<std::size_t()> size;
    std::function<void()> append;  ///< one with its defaults
    std::function<void(std::size_t, ManifestFields&)> declare;
    std::function<void(ManifestFields&)> declare_fresh;  ///< of one with its defaults
  };
  struct EntryKind {
    std::string kind;                                         ///< the word for one: "step"
    std::function<std::string(const EntryChoice&)> fault_of;  ///< empty where the choice is right
  };
  virtual void add_entries(const std::string& name, std::vector<EntryChoice>& values,
                           const std::string& help, const FieldRule& rule,
                           const EntryKind& kind) = 0;
  virtual void add_parts(const std::string& name, const std::string& help, const FieldRule& rule,
                         const PartList& parts) = 0;

 private:
  /// By making it, where that takes nothing but its settings.
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
