// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "d5/core/entries/option.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5 {

/// Checks one algorithm of a kind of collective on all ranks, with tensors of 0 to 70,001 elements:
/// `d5 all-reduce check` and its siblings. The records are the same on each rank and have one
/// sample for each tensor. Their names begin with the kind (`all_reduce_error`):
///
/// - `error`: error of sums of random numbers, at most 1. The unit is the rounding bound of n - 1
///   additions in any order of the sum of magnitudes. Kinds without a sum: wrong elements, 0
///   expected;
/// - `agreement`: all-reduce only; elements that differ in any bit from rank 0's, 0 expected;
/// - `extremes`: reducing kinds only; wrong elements of maxima and minima, 0 expected;
/// - `under_way`: wrong elements with several requests in flight that each rank completes in
///   another order, 0 expected;
/// - `volume`: counted calls and bytes that differ from `Collective::volume`, if the algorithm has
///   it, 0 expected. The conditions "calls" and "bytes_sent" are rank 0's for the largest tensor.
///
/// On a single rank the records are skipped; their reason says how to start several ranks.
///
/// A collective: all ranks call it. Throws: NotFound, ValueError, CommunicationError.
[[nodiscard]] std::vector<Measurement> check_collective(CallKind kind, const EntryChoice& choice,
                                                        Communicator& ranks,
                                                        std::uint64_t seed = 0);

}  // namespace d5
