// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bindings.hpp"
#include "d5/core/entries/option.hpp"
#include "d5/core/entries/registry.hpp"

namespace d5::python {

/// What an option is that a call leaves out: its default, or what a file says, for which None
/// stands.
enum class Untold { has_default, as_file_says };

/// Throws: TypeError for a text, None or a list in place of a number or a flag of the option type:
/// "d5.bench: samples is '3', expected int". `what` begins the message.
void expect_number(const std::string& what, const std::string& type, const py::handle& value);

/// The settings of a call of `who` for an entry with the options `declared`, nested ones too.
/// Throws: TypeError for an object that is no setting, and as `expect_number`.
[[nodiscard]] Settings entry_settings(const py::kwargs& given, const std::string& who,
                                      const std::vector<Option>& declared);

/// The same for the entry `name`; if there is none, which the call says itself, texts may be
/// anything.
template <class T>
[[nodiscard]] Settings entry_settings(const py::kwargs& given, const std::string& who,
                                      const Registry<T>& registry, const std::string& name) {
  const T* entry = registry.find(name);
  return entry_settings(given, who, entry ? entry->options() : std::vector<Option>());
}

/// Throws: TypeError for another object than a dict.
void expect_dict(const py::handle& object, const std::string& who);

/// An entry's choice of a dict with its name and its settings: {"name": "cosine", "length": 100}.
template <class T>
[[nodiscard]] EntryChoice entry_choice(const py::handle& dict, const std::string& who,
                                       const Registry<T>& registry) {
  expect_dict(dict, who);
  const auto given = py::reinterpret_borrow<py::kwargs>(dict);
  const std::string name =
      given.contains("name") ? std::string(py::str(given["name"])) : std::string();
  EntryChoice choice{name, entry_settings(given, who, registry, name)};
  (void)choice.settings.take("name", "");
  return choice;
}

/// The keywords that are given. Throws: pybind11's refusal of the call for a keyword that is not in
/// `declared`, and for None in place of a default; TypeError as `entry_settings`.
[[nodiscard]] Settings declared_settings(const Options& keywords, const std::string& who,
                                         const std::vector<Option>& declared,
                                         Untold untold = Untold::as_file_says);

/// Reads the options of `Declared` from the keywords of a call named `who`. Throws: OptionError,
/// and as `declared_settings`.
template <class Declared>
[[nodiscard]] Declared read_keywords(const Options& keywords, const std::string& who) {
  return read_options<Declared>(
      declared_settings(keywords, who, options_of<Declared>(), Untold::has_default));
}

/// Puts the options of `declared`, with types and defaults, in place of `**kwargs` into the
/// signature of `function`, which stubs and messages use. Options that replace a file's values have
/// the default None.
void tell_keywords(const py::module_& m, const char* function, const std::vector<Option>& declared,
                   Untold untold = Untold::has_default);

}  // namespace d5::python
