// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "d5/core/results/measurement.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5 {

/// Joins the records of all ranks; the result is the same on each. Every rank passes the same
/// metrics in the same order. Samples become the maximum, sum or mean over the ranks
/// (`Measurement::over_ranks`), with the worst status and its reason. Records that are `apart`, or
/// whose ranks took different numbers of samples, are kept once per rank, with the condition
/// "rank". From a rank that did not train (a server) only records with samples count.
///
/// A collective: all ranks call it. Throws: CommunicationError; FormatError if the ranks' metrics
/// differ.
[[nodiscard]] std::vector<Measurement> gather_records(std::vector<Measurement> mine,
                                                      Communicator& ranks, bool trained = true);

}  // namespace d5
