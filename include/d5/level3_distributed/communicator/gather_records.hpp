// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/core/results/measurement.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5 {

/// The records of all ranks, the same on each: `mine` of every rank are of the same metrics in the
/// same order. Samples become maximum, sum or mean over the ranks, as `Measurement::over_ranks`
/// says; the worst status and its reason stand. Records that are `apart`, and those of which ranks
/// took different numbers of samples, become one a rank, with the condition "rank". Of a rank that
/// did not train (a server) only records with samples count.
///
/// A collective: all ranks call it. Throws: CommunicationError, FormatError if ranks call it with
/// records of other metrics.
[[nodiscard]] std::vector<Measurement> gather_records(std::vector<Measurement> mine,
                                                      Communicator& ranks, bool trained = true);

}  // namespace d5
