// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/core/entries/loadable_frameworks.hpp"

namespace d5::app {

/// Every framework that can be loaded. Reports the others on stderr.
[[nodiscard]] std::vector<Framework*> loadable_frameworks();
/// Reports on stderr the frameworks that could not be loaded, and why.
void say_what_cannot_be_loaded();

}  // namespace d5::app
