// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "level1_network/draft.hpp"

namespace d5 {

/// For each step the kernel of the first framework that supports it and can plan it; for what the
/// frameworks asked for by name lack, the kernel that is fastest on the step's shapes (those of
/// `RunState::candidates` run forward once or a few times, on zeros where a value is not constant).
/// Throws: Unsupported with every framework's reason.
void select_kernels(Draft& draft);

}  // namespace d5
