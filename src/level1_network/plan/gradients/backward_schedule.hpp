// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "level1_network/plan/draft.hpp"

namespace d5 {

/// When each backward step happens, what it reads, and which steps run again before it because
/// they are `recomputed`: each once, before the first that needs it; what it writes then is kept
/// for all others.
///
/// Source: Chen et al., "Training Deep Nets with Sublinear Memory Cost" (2016), algorithm 1.
void schedule_backward(Draft& draft);

}  // namespace d5
