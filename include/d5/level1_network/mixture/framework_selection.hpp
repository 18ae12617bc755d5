// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/statistics/statistics.hpp"
#include "d5/core/tables/text_table.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"

namespace d5 {

/// Choice of "auto" for a network, and how certain it is.
///
/// Units: seconds; forward, plus backward if the plan has it.
struct FrameworkSelection {
  struct Node {
    std::string name, op_type;
    std::string framework;
    double seconds = 0;          ///< median, within runs of the whole network
    std::string runner_up = {};  ///< the second fastest; empty if there is none
    Comparison ratio = {};       ///< the runner-up's time over the chosen one's
  };
  /// A way to run the whole network: "mixture", one framework as far as it goes ("torch"), a
  /// framework's own executor ("torch:torch"), or "fused". "fused" is the fastest of the first two
  /// for the network after the transforms fold-batch-norm and fuse-activation. If d5's plan gives
  /// wrong outputs, the ways are what frameworks make of the network one by one
  /// ("torch+reference").
  struct Way {
    std::string name;
    double seconds = 0;     ///< median
    Comparison ratio = {};  ///< its time over the chosen one's
  };
  struct Refusal {
    std::string framework, reason;
  };
  std::string chosen;
  std::vector<Way> ways = {};  ///< the fastest first
  /// Nodes of the mixture, or of the framework that d5's plan runs in; nodes of the fused network
  /// if that is chosen.
  std::vector<Node> nodes = {};
  std::vector<Refusal> refusals = {};   ///< candidates that failed, or gave wrong outputs
  std::vector<std::string> notes = {};  ///< problems with reading or writing a cached choice
  std::size_t reorders = 0;             ///< reorders and copies between the nodes of a run
  /// Number of input draws on which ways to run the whole network were checked: the inputs fed, and
  /// if these are random (`network_inputs` of an executor) others like them. 0: no way was checked
  /// as a whole.
  int draws = 0;
  double measuring_seconds = 0;  ///< time spent on measuring; 0 if nothing had to be measured
  bool kept = false;             ///< whether the choice was cached
};

/// The choice for the inputs that `executor` planned or ran last; `chosen` is empty without "auto".
[[nodiscard]] FrameworkSelection framework_selection(const GraphExecutor& executor);

/// One row per node of d5's plan: node, operator, framework, time, runner-up, ratio with its
/// interval. For programs the ends of the interval are separate columns.
[[nodiscard]] TextTable to_table(const FrameworkSelection& selection, Format format);
/// One row per way to run the whole, then one per refusal, the reorders and the time for measuring.
[[nodiscard]] TextTable summary_table(const FrameworkSelection& selection, Format format);

/// Removes the cached choices of "auto" for networks of this structure on this machine, so that it
/// measures again. Returns the number of removed choices. Throws: IoError.
std::size_t forget_selections(const Network& network);

}  // namespace d5
