// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "level1_network/plan/draft.hpp"

namespace d5 {

/// Makes the plan's backward steps, and determines when each parameter's gradient is final.
void link_gradients(Draft& draft);

}  // namespace d5
