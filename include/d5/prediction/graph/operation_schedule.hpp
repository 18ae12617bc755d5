// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "d5/core/trace/timeline.hpp"
#include "d5/prediction/graph/operation_graph.hpp"

namespace d5 {

/// When each operation of a graph runs, by id. Units: s from the beginning; NaN where there is no
/// operation.
struct OperationSchedule {
  std::vector<double> begin, end;
  std::vector<OperationGraph::Id> order;  ///< as they begin
  /// That had the place of its lane before; `kNone`: nobody.
  std::vector<OperationGraph::Id> before_on_lane;
  double seconds = 0;  ///< when the last is over
};

enum class Lanes {
  as_wide_as_they_are,
  unlimited,  ///< nothing waits for a lane: the schedule is as long as the critical path
};

/// What is ready begins at once where its lane has a place, and keeps it to its end. Of what waits
/// for a lane the highest priority goes first, then what was ready first, then the lowest id. At
/// one moment everything that is over ends before anything begins.
///
/// Throws: ValueError for operations that wait for each other in a circle.
[[nodiscard]] OperationSchedule schedule(const OperationGraph& graph,
                                         Lanes lanes = Lanes::as_wide_as_they_are);

/// The operations, first to last, each of which began when the one before it ended, from the
/// beginning to the end of the schedule: what it is as long as it is for.
[[nodiscard]] std::vector<OperationGraph::Id> binding_chain(const OperationGraph& graph,
                                                            const OperationSchedule& schedule);

/// The longest chain of operations that wait for each other, lanes left out.
struct CriticalPath {
  std::vector<OperationGraph::Id> operations;
  double seconds = 0;
};
[[nodiscard]] CriticalPath critical_path(const OperationGraph& graph);

/// By id: how much later an operation could end without the schedule being longer, each lane's
/// operations kept in their order. Units: s.
[[nodiscard]] std::vector<double> slack(const OperationGraph& graph,
                                        const OperationSchedule& schedule);

/// What a shorter operation is worth.
struct OperationGain {
  OperationGraph::Id id = OperationGraph::kNone;
  double seconds = 0;  ///< by which the schedule is shorter
};
struct GainOptions {
  double shorter = 0.1;          ///< by this share of its own time
  std::size_t most_tried = 100;  ///< the longest of the binding chain
};
/// What helps most, most first; each was tried, all others as they are. Throws: ValueError for a
/// share outside of 0 to 1.
[[nodiscard]] std::vector<OperationGain> most_helpful(const OperationGraph& graph,
                                                      const GainOptions& options = {});

/// A rank of the timeline for each of the graph, a lane for each of its lanes.
[[nodiscard]] Timeline to_timeline(const OperationGraph& graph, const OperationSchedule& schedule);

}  // namespace d5
