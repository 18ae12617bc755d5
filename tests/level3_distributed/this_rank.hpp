// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5::testing {

inline const int rank_count = world()->size(), this_rank = world()->rank(),
                 last_rank = rank_count - 1;

}  // namespace d5::testing
