// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "d5/core/trace/timeline.hpp"
#include "d5/prediction/graph/operation_graph.hpp"

namespace d5 {

/// Begin and end time of each operation, by id. Units: s from the beginning; NaN for removed
/// operations.
struct OperationSchedule {
  std::vector<double> begin, end;
  std::vector<OperationGraph::Id> order;  ///< sorted by start
  /// The operation that ran before it in the same slot of its lane; `kNone` for the first.
  std::vector<OperationGraph::Id> before_on_lane;
  double seconds = 0;  ///< makespan
};

enum class Lanes {
  as_wide_as_they_are,
  unlimited,  ///< no operation waits for a lane: the makespan is the critical path
};

/// List scheduling without preemption: a ready operation begins as soon as its lane has a free
/// slot. Waiting operations are taken by highest priority, then by the time they became ready, then
/// by lowest id. At equal times, ends precede begins.
///
/// While operations that compute and that communicate run on a rank, those that have a slowdown
/// (`set_slowdown`) take longer by it, and communication by the largest of them. Times are
/// piecewise: an operation whose overlap ends goes on at full speed.
///
/// Throws: ValueError for a cycle.
[[nodiscard]] OperationSchedule schedule(const OperationGraph& graph,
                                         Lanes lanes = Lanes::as_wide_as_they_are);

/// The chain of operations that determines the makespan: each begins when its predecessor in the
/// chain ends, by a dependency or by a lane.
[[nodiscard]] std::vector<OperationGraph::Id> binding_chain(const OperationGraph& graph,
                                                            const OperationSchedule& schedule);

/// The longest chain of dependent operations, lanes and slowdowns ignored.
struct CriticalPath {
  std::vector<OperationGraph::Id> operations;
  double seconds = 0;
};
[[nodiscard]] CriticalPath critical_path(const OperationGraph& graph);

/// Slack by id: how much later an operation could end without increasing the makespan, if the order
/// on each lane is kept. Slowdowns are ignored. Units: s.
[[nodiscard]] std::vector<double> slack(const OperationGraph& graph,
                                        const OperationSchedule& schedule);

/// Gain from shortening one operation.
struct OperationGain {
  OperationGraph::Id id = OperationGraph::kNone;
  double seconds = 0;  ///< reduction of the makespan
};
struct GainOptions {
  double shorter = 0.1;          ///< share of its own time by which it is shortened
  std::size_t most_tried = 100;  ///< number of operations tried: the longest of the binding chain
};
/// Operations whose shortening helps most, sorted by gain; each is tried alone. Throws: ValueError
/// for a share outside 0 to 1.
[[nodiscard]] std::vector<OperationGain> most_helpful(const OperationGraph& graph,
                                                      const GainOptions& options = {});

/// A timeline with the ranks and lanes of the graph.
[[nodiscard]] Timeline to_timeline(const OperationGraph& graph, const OperationSchedule& schedule);

}  // namespace d5
