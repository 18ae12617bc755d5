// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "d5/core/measurement.hpp"
#include "d5/core/option.hpp"
#include "d5/level3_distributed/communicator.hpp"

namespace d5 {

/// What `d5 all-reduce check` does: an all-reduce of `all_reduces()`, on all ranks, with tensors
/// from no element to 70,001. Records, the same on each rank, a sample a tensor:
///
/// - `all_reduce_error`: of sums of random numbers, in units of the rounding that n - 1 additions
/// in
///   any order may do to the sum of magnitudes; at most 1;
/// - `all_reduce_agreement`: elements that differ in any bit from rank 0's; none may;
/// - `all_reduce_extremes`: wrong elements of maxima and minima; none may be;
/// - `all_reduce_under_way`: wrong elements of several that are under way at once and that ranks
///   move on in orders of their own; none may be.
///
/// One rank alone has nothing to sum: then they are skipped, with the way to start several.
///
/// A collective: all ranks call it. Throws: NotFound, ValueError, CommunicationError.
[[nodiscard]] std::vector<Measurement> check_all_reduce(const EntryChoice& all_reduce,
                                                        Communicator& ranks,
                                                        std::uint64_t seed = 0);

}  // namespace d5
