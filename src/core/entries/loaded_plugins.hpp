// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/core/entries/framework.hpp"

namespace d5::detail {

/// Frameworks that came from a plug-in's file. What might be loaded is not looked for.
[[nodiscard]] std::vector<const Framework*> loaded_plugins();

}  // namespace d5::detail
