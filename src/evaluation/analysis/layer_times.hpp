// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "d5/evaluation/analysis/analysis.hpp"
#include "d5/evaluation/analysis/evaluation_difference.hpp"

namespace d5::detail {

/// What one node of a model took, in one framework.
struct LayerTime {
  std::string subject, framework;
  std::string name;  ///< of the node; " backward" behind it where that is meant
  std::string type;  ///< "Conv"
  Estimate seconds;  ///< of one run of the model
  double flop = 0;   ///< of one run; 0: not told
  double bytes = 0;  ///< read and written; 0: not told
  double memory = 0;
};

/// From a run's profile, records with the condition `by` = node (`d5 net bench --profile`), and
/// from the spans of its traces: of a node that holds others (a loop, a session with nodes of its
/// own) the time that none of these ran, so that all of them sum to the whole.
[[nodiscard]] std::vector<LayerTime> layer_times(const AnalysedRun& run);

/// `d5::layer_differences` of such times.
[[nodiscard]] std::vector<LayerDifference> layer_differences(std::span<const LayerTime> a,
                                                             std::span<const LayerTime> b);

}  // namespace d5::detail
