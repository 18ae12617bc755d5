// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level1_network/graph/transform.hpp"

namespace d5 {

/// Applies `transform` to `network`, after the graphs that its nodes hold, innermost first, if it
/// enters graphs. The report names the graphs.
[[nodiscard]] TransformReport apply_throughout(const Transform& transform, Network& network);

}  // namespace d5
