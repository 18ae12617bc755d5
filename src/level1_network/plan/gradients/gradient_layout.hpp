// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "level1_network/plan/draft.hpp"

namespace d5 {

/// In which memory gradients are, where several readers' contributions are added up, and how long
/// what backward reads has to live.
void plan_gradients(Draft& draft);

}  // namespace d5
