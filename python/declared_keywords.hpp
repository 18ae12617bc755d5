// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bindings.hpp"
#include "d5/core/entries/option.hpp"

namespace d5::python {

/// What an option is that a call leaves out: its default, or what a file says, for which None
/// stands.
enum class Untold { has_default, as_file_says };

/// The keywords that are given. Throws: pybind11's refusal of the call for a keyword that is not in
/// `declared`, and for None in place of a default; TypeError for an object that is no setting.
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
