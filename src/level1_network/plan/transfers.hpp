// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "level1_network/plan/draft.hpp"

namespace d5 {

/// Adds a transfer step, after kernels were selected, wherever a value's device or layout differs
/// from what a reader expects; one for all readers. Outputs of the network end on the host if the
/// request says so; so do the new values of constants.
/// Throws: Unsupported if no framework can reorder; MemoryError.
void add_transfers(Draft& draft);

}  // namespace d5
