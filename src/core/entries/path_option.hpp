// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/core/entries/option.hpp"

namespace d5::detail {

/// An option that is a path of this machine. Settings of a manifest that are paths begin beside it,
/// which its reader sees by this mark.
inline OptionText path_text() { return {.placeholder = "PATH"}; }
/// The same for "FILE.py::NAME", whose file is a path.
inline OptionText function_text() { return {.placeholder = "PATH::NAME"}; }

[[nodiscard]] inline bool is_path(const Option& option) { return option.placeholder == "PATH"; }
[[nodiscard]] inline bool is_function(const Option& option) {
  return option.placeholder == "PATH::NAME";
}

}  // namespace d5::detail
