// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "level1_network/plan/draft.hpp"

namespace d5 {

/// Decides which steps are `recomputed`: those that `CompileRequest::recompute` names, or for
/// "auto" a choice of little work that brings the plan below the memory limit; where none does, the
/// one that needs least.
/// Throws: NotFound for a name that no node has, ValueError for "auto" beside names or without a
/// limit.
void choose_recomputation(Draft& draft);

}  // namespace d5
