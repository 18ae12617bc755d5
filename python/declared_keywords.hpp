// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bindings.hpp"
#include "d5/core/entries/option.hpp"

namespace d5::python {

/// The keywords that are given; None is not. Throws: pybind11's refusal of the call for one that is
/// none of `declared`.
[[nodiscard]] Settings declared_settings(const Options& keywords, const std::string& who,
                                         const std::vector<Option>& declared);

/// What a call by the name `who` says of `Declared` by keywords. Throws: OptionError, and as
/// `declared_settings`.
template <class Declared>
[[nodiscard]] Declared read_keywords(const Options& keywords, const std::string& who) {
  return read_options<Declared>(declared_settings(keywords, who, options_of<Declared>()));
}

/// Says in the signature of `function`, from which stubs and messages are made, what its `**kwargs`
/// are: those of `declared`, with types and defaults; where they change what a file says, None.
enum class Untold { has_default, as_file_says };
void tell_keywords(const py::module_& m, const char* function, const std::vector<Option>& declared,
                   Untold untold = Untold::has_default);

}  // namespace d5::python
