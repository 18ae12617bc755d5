// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5::detail {

/// Maximum, mean and disjunction of every rank's `mine`; the same result on each rank. Collectives.
[[nodiscard]] double largest_of_ranks(Communicator& ranks, double mine);
[[nodiscard]] double mean_of_ranks(Communicator& ranks, double mine);
[[nodiscard]] bool any_of_ranks(Communicator& ranks, bool mine);

}  // namespace d5::detail
