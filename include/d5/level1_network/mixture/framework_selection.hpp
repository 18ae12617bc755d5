// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "d5/core/statistics/statistics.hpp"
#include "d5/core/tables/text_table.hpp"
#include "d5/level1_network/graph/graph_executor.hpp"

namespace d5 {

/// What "auto" chose for a network, and how sure it is of that.
///
/// Units: seconds, of forward and where the plan goes back of backward.
struct FrameworkSelection {
  struct Node {
    std::string name, op_type;
    std::string framework;
    double seconds = 0;          ///< median, within runs of the whole network
    std::string runner_up = {};  ///< the fastest of the others; empty: there is none
    Comparison ratio = {};       ///< the runner-up's time over the chosen one's
  };
  /// A way to run the whole network: "mixture", one framework as far as it goes ("torch"), a
  /// framework's own executor ("torch:torch"), or "fused": the fastest of the first two for the
  /// network after the transforms fold-batch-norm and fuse-activation. Where d5's plan answers
  /// wrongly, what frameworks make of the network one by one ("torch+reference").
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
  /// Of the mixture, or of the framework that d5's plan runs in; of the fused network's if that
  /// is chosen.
  std::vector<Node> nodes = {};
  std::vector<Refusal> refusals = {};   ///< candidates that failed, or computed something else
  std::vector<std::string> notes = {};  ///< of a kept choice that could not be read, or written
  std::size_t reorders = 0;             ///< and copies, between the nodes of a run
  /// Of inputs on which those who may run the whole were judged: what it was fed, and where that is
  /// random (`network_inputs` of an executor) others like it. 0: nobody was judged as a whole.
  int draws = 0;
  double measuring_seconds = 0;  ///< that it took; 0: nothing had to be measured
  bool kept = false;             ///< from an earlier time
};

/// For the inputs that `executor` planned or ran last; `chosen` is empty where "auto" had no part.
[[nodiscard]] FrameworkSelection framework_selection(const GraphExecutor& executor);

/// A row a node of d5's plan: node, operator, chosen, time, runner-up, ratio with its interval; for
/// programs the ends of the interval are columns of their own.
[[nodiscard]] TextTable to_table(const FrameworkSelection& selection, Format format);
/// A row a way to run the whole, then one a refusal, the reorders and what measuring took.
[[nodiscard]] TextTable summary_table(const FrameworkSelection& selection, Format format);

/// Forgets what "auto" chose for networks of this structure, on this machine: it will measure anew.
/// Returns how many choices that were. Throws: IoError.
std::size_t forget_selections(const Network& network);

}  // namespace d5
