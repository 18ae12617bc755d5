// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "level1_network/plan/draft.hpp"

namespace d5 {

/// After kernels were chosen: a step of its own wherever a value is on another device, or arranged
/// in another way, than who reads it expects; once for all readers. Outputs of the network end on
/// the host if the request says so, and what overwrites constants does.
/// Throws: Unsupported where nobody can reorder, MemoryError.
void add_transfers(Draft& draft);

}  // namespace d5
