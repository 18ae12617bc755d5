// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "d5/core/entries/option.hpp"

namespace d5::detail {

/// An option that is a path of this machine. A manifest's relative path leads to its own folder
/// first, so whoever reads a manifest must know which settings are paths.
inline OptionText path_text() { return {.placeholder = "PATH"}; }
/// The same for "FILE.py::NAME", whose file is a path.
inline OptionText function_text() { return {.placeholder = "PATH::NAME"}; }

[[nodiscard]] inline bool is_path(const Option& option) { return option.placeholder == "PATH"; }
[[nodiscard]] inline bool is_function(const Option& option) {
  return option.placeholder == "PATH::NAME";
}

}  // namespace d5::detail
