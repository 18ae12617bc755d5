// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "level1_network/plan/draft.hpp"

namespace d5 {

/// Schedules the backward steps, the values that they read, and the `recomputed` steps. A step is
/// recomputed once, before its first reader in backward; its outputs are then kept for the other
/// readers.
///
/// Source: Chen et al., "Training Deep Nets with Sublinear Memory Cost" (2016), algorithm 1.
void schedule_backward(Draft& draft);

}  // namespace d5
