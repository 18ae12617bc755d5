// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "d5/core/tables/text_table.hpp"
#include "d5/evaluation/analysis/analysis.hpp"

namespace d5 {

/// A node that two runs hold, and what it adds to their difference.
struct LayerDifference {
  std::string name, type;
  double a = 0, b = 0;      ///< s, of one run of the model; 0: the run has no such node
  double share_of_all = 0;  ///< (b - a) over the difference of all nodes together
  bool is_sure = false;     ///< the intervals do not meet
};

/// By node, the one that differs most first. Frameworks may differ: that is what is compared. Empty
/// where a run tells no nodes (`d5 net bench --profile`, or a trace).
[[nodiscard]] std::vector<LayerDifference> layer_differences(const AnalysedRun& a,
                                                             const AnalysedRun& b);
/// The first `most`, and below them all together.
[[nodiscard]] TextTable to_table(std::span<const LayerDifference> differences, std::size_t most);

}  // namespace d5
