// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "level1_network/plan/draft.hpp"

namespace d5 {

/// Decides for each update whether its new value is written in the memory of its constant
/// (`PlannedUpdate` has the conditions): then the slot's `memory_of` is the constant's slot, and it
/// gets no block. Call it after kernels and transfers, before lifetimes.
void find_updates_in_place(Draft& draft);

}  // namespace d5
