// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "level1_network/plan/draft.hpp"

namespace d5 {

/// Which steps have a part in the loss's gradient, and which inputs' gradients each is asked for.
/// Throws: Unsupported where a step on the way has none, NotFound, TypeError for a gradient that is
/// asked for of what is no tensor of real numbers.
void find_gradient_paths(Draft& draft);

}  // namespace d5
