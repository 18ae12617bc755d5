// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5::testing {

/// How many ranks there are, and which of them this is.
inline const int n = world()->size(), rank = world()->rank();

}  // namespace d5::testing
