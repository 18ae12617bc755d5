// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "level1_network/plan/draft.hpp"

namespace d5 {

/// Marks the steps on the paths of the loss's gradient, and the inputs whose gradients each
/// computes.
/// Throws: Unsupported if a step on a path has no gradient; NotFound; TypeError for a gradient
/// requested of a value that is not a floating-point tensor.
void find_gradient_paths(Draft& draft);

}  // namespace d5
