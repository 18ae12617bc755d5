// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "d5/core/entries/option.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5 {

/// What `d5 all-reduce check` does, and the same of broadcasts, reduce-scatters and all-gathers: an
/// algorithm of its registry, on all ranks, with tensors from no element to 70,001. Records, the
/// same on each rank, a sample a tensor, KIND before each name (`all_reduce_error`):
///
/// - `error`: of sums of random numbers, in units of the rounding that n - 1 additions in any order
///   may do to the sum of magnitudes, at most 1; where nothing is summed, wrong elements;
/// - `agreement`: of an all-reduce, elements that differ in any bit from rank 0's; none may;
/// - `extremes`: where it reduces, wrong elements of maxima and minima; none may be;
/// - `under_way`: wrong elements of several that are under way at once and that ranks move on in
///   orders of their own; none may be;
/// - `volume`: calls and bytes counted that differ from what the algorithm tells of itself, if it
///   does; none may. The conditions "calls" and "bytes_sent" are rank 0's of the largest tensor.
///
/// One rank alone has nothing to say: then they are skipped, with the way to start several.
///
/// A collective: all ranks call it. Throws: NotFound, ValueError, CommunicationError.
[[nodiscard]] std::vector<Measurement> check_collective(CallKind kind, const EntryChoice& choice,
                                                        Communicator& ranks,
                                                        std::uint64_t seed = 0);

}  // namespace d5
