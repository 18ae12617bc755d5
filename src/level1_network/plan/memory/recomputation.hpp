// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "level1_network/plan/draft.hpp"

namespace d5 {

/// Chooses the `recomputed` steps: those named by `CompileRequest::recompute`, or for "auto" a
/// choice of little work that brings the plan below the memory limit; if there is none, the one
/// with the least need.
/// Throws: NotFound for a name without a node; ValueError for "auto" beside names or without a
/// limit.
void choose_recomputation(Draft& draft);

}  // namespace d5
