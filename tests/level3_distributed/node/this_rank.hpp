// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5::testing {

/// The number of ranks, and this rank.
inline const int n = world()->size(), rank = world()->rank();

}  // namespace d5::testing
