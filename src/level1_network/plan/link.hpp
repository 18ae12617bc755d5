// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "level1_network/plan/draft.hpp"

namespace d5 {

/// Last phase: makes the plan's steps, with pointers to all inputs and outputs.
void link(Draft& draft);

}  // namespace d5
