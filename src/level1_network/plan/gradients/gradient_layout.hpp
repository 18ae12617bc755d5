// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "level1_network/plan/draft.hpp"

namespace d5 {

/// Assigns memory to gradients, sums the contributions of several readers, and extends the
/// lifetimes of values that backward reads.
void plan_gradients(Draft& draft);

}  // namespace d5
