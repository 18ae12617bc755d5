// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/core/entries/loadable_frameworks.hpp"

namespace d5::app {

/// Every framework that can be loaded. Reports on stderr those that fail.
[[nodiscard]] std::vector<Framework*> loadable_frameworks();
/// Reports on stderr the plug-ins that could not be loaded, and why. What the build left out is no
/// failure: `say_what_is_left_out`.
void say_what_cannot_be_loaded();
/// Names on stderr the frameworks that the build left out, in a line.
void say_what_is_left_out();

}  // namespace d5::app
