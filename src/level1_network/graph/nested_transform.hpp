// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level1_network/graph/transform.hpp"

namespace d5 {

/// `transform` on `network`, and before that on the graphs that its nodes hold, the innermost
/// first, where it enters graphs. The report tells what was done in which.
[[nodiscard]] TransformReport apply_throughout(const Transform& transform, Network& network);

}  // namespace d5
