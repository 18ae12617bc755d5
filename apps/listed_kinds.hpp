// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "d5/core/entries/entry.hpp"
#include "d5/core/entries/framework.hpp"
#include "d5/core/entries/registry.hpp"
#include "d5/core/tables/text_table.hpp"

namespace d5::app {

/// One entry: its summary, and a row for each of its options.
struct EntryDescription {
  std::string summary;
  TextTable options;
};

/// A kind of entries that `d5 list` lists.
struct ListedKind {
  std::string name;
  std::function<TextTable()> list;
  std::function<EntryDescription(const std::string&)> describe =
      {};  ///< empty: entries have no options
  std::function<std::string(const std::string&)> file =
      {};  ///< text of an entry that is a file; empty: entries are none
};

template <class Signature>
EntryDescription describe(const Entry<Signature>& entry) {
  EntryDescription result{entry.summary(),
                          TextTable({"option", "type", "default", "range", "what"})};
  for (const auto& option : entry.options()) {
    result.options.add({option.name, option.type, option.initial, option.range, option.help});
  }
  return result;
}

template <class T>
TextTable summaries(const Registry<T>& registry) {
  TextTable table({"name", "summary"});
  for (const auto& [name, entry] : registry.entries()) table.add({name, entry.summary()});
  return table;
}

template <class T>
ListedKind kind_of(std::string name, Registry<T>& (*registry)()) {
  return {std::move(name), [registry] { return summaries(registry()); },
          [registry](const std::string& entry) { return describe(registry().at(entry)); }};
}

/// Frameworks, with the number of entries of each.
[[nodiscard]] TextTable table_of(const std::vector<Framework*>& frameworks);

/// All kinds: those of the levels in their order, then those of each optional part that was built.
[[nodiscard]] std::vector<ListedKind> listed_kinds();
void list_prediction(std::vector<ListedKind>& kinds);
void list_evaluation(std::vector<ListedKind>& kinds);
void list_serving(std::vector<ListedKind>& kinds);

/// The names that d5 carries for an option or a positional word, for shell completion. Frameworks
/// are not loaded for them.
using CarriedValues = std::map<std::string, std::function<std::vector<std::string>()>>;
void carry_evaluation(CarriedValues& values);

}  // namespace d5::app
