// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/core/framework.hpp"

namespace d5::app {

/// Every framework that can be loaded; what cannot is reported on stderr.
[[nodiscard]] std::vector<Framework*> loadable_frameworks();

}  // namespace d5::app
