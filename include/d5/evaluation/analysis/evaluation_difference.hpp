// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "d5/core/tables/text_table.hpp"
#include "d5/evaluation/analysis/analysis.hpp"

namespace d5 {

/// A node of two runs, and its share of their difference.
struct LayerDifference {
  std::string name, type;
  double a = 0, b = 0;      ///< s, per run of the model; 0: the run has no such node
  double share_of_all = 0;  ///< (b - a) over the difference of all nodes together
  bool is_sure = false;     ///< the intervals do not overlap
};

/// Differences by node, the largest first. The runs may have different frameworks. Empty if a run
/// has no times of nodes (`d5 net bench --profile`, or a trace).
[[nodiscard]] std::vector<LayerDifference> layer_differences(const AnalysedRun& a,
                                                             const AnalysedRun& b);
/// A table of the first `most`, with all together below them.
[[nodiscard]] TextTable to_table(std::span<const LayerDifference> differences, std::size_t most);

}  // namespace d5
