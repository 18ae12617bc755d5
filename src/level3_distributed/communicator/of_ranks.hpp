// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5::detail {

/// Of every rank's `mine`, the same on each. Collectives.
[[nodiscard]] double largest_of_ranks(Communicator& ranks, double mine);
[[nodiscard]] double mean_of_ranks(Communicator& ranks, double mine);
[[nodiscard]] bool any_of_ranks(Communicator& ranks, bool mine);

}  // namespace d5::detail
