// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "d5/evaluation/scenario/find_peak.hpp"

namespace d5::detail {

/// How far a search is: what it knows between two rates.
struct PeakState {
  double rate = 0;    ///< highest rate that held; 0: none did
  double missed = 0;  ///< lowest rate above it that missed; 0: none did
  double next = 0;    ///< rate that is asked next
};

/// Options of the run number `again`, from 0, at one rate.
[[nodiscard]] ScenarioOptions lengthened(const PeakOptions& options, int again);
/// Time for which that run asks.
[[nodiscard]] double seconds_of_run(const PeakOptions& options, double rate, int again);
/// Bounds of the search from a state on, with the next rate.
[[nodiscard]] PeakBound bound_from(const PeakOptions& options, const PeakState& state);

}  // namespace d5::detail
