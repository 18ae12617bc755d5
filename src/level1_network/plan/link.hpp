// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "level1_network/plan/draft.hpp"

namespace d5 {

/// The last phase: makes the plan's steps, with everything that they read and write in its place.
void link(Draft& draft);

}  // namespace d5
