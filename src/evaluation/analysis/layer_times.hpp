// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "d5/evaluation/analysis/analysis.hpp"
#include "d5/evaluation/analysis/evaluation_difference.hpp"

namespace d5::detail {

/// Time of one node of a model in one framework.
struct LayerTime {
  std::string subject, framework;
  std::string name;  ///< name of the node, followed by " backward" for its backward pass
  std::string type;  ///< "Conv"
  Estimate seconds;  ///< per run of the model
  double flop = 0;   ///< per run; 0: unknown
  double bytes = 0;  ///< read and written; 0: unknown
  double memory = 0;
};

/// Collects times from records of a run's profile with the condition `by` = node (`d5 net bench
/// --profile`), and from the spans of its traces. A span counts with its self time: a node that
/// contains others (a loop, a session with nodes of its own) without these, so that all times sum
/// to the whole.
[[nodiscard]] std::vector<LayerTime> layer_times(const AnalysedRun& run);

/// Time between two consecutive layers of a framework.
struct LayerGap {
  std::string framework;
  std::string after, before;  ///< the layers' names
  Estimate seconds;
};

/// Collects the times between the layers of the traces, in the order of a run of the model: from
/// the end of a span to the begin of the next one of the same lane and the same enclosing span.
[[nodiscard]] std::vector<LayerGap> layer_gaps(const AnalysedRun& run);

/// `d5::layer_differences` of these times.
[[nodiscard]] std::vector<LayerDifference> layer_differences(std::span<const LayerTime> a,
                                                             std::span<const LayerTime> b);

}  // namespace d5::detail
