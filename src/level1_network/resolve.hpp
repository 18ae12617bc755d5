// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "level1_network/draft.hpp"

namespace d5 {

/// The first phase: what each node means, the types and shapes of what it writes, and the values of
/// what is constant; nodes that are left become steps.
/// Throws: Unsupported for a node that nobody knows, NotFound, what `Operator::infer` throws.
void resolve(Draft& draft);

}  // namespace d5
