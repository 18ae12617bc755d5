// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "d5/core/errors/error.hpp"
#include "d5/prediction/graph/operation_schedule.hpp"

namespace d5 {
namespace {

using Id = OperationGraph::Id;

}  // namespace

std::vector<Id> binding_chain(const OperationGraph& graph, const OperationSchedule& schedule) {
  std::vector<Id> chain;
  if (schedule.order.empty()) return chain;
  Id id = schedule.order.front();
  for (const Id each : schedule.order) {
    if (schedule.end[each] > schedule.end[id]) id = each;
  }
  while (id != OperationGraph::kNone) {
    chain.push_back(id);
    // A start equals the end of the awaited operation exactly.
    const double begin = schedule.begin[id];
    const auto& before = graph.predecessors(id);
    const auto held = std::ranges::find_if(before, [&](Id b) { return schedule.end[b] == begin; });
    const Id on_lane = schedule.before_on_lane[id];
    id = held != before.end() ? *held
         : on_lane != OperationGraph::kNone && schedule.end[on_lane] == begin
             ? on_lane
             : OperationGraph::kNone;
  }
  std::ranges::reverse(chain);
  return chain;
}

CriticalPath critical_path(const OperationGraph& graph) {
  const OperationSchedule alone = schedule(graph, Lanes::unlimited);
  return {binding_chain(graph, alone), alone.seconds};
}

std::vector<double> slack(const OperationGraph& graph, const OperationSchedule& schedule) {
  std::vector<double> latest(schedule.end.size(), schedule.seconds);
  std::vector<double> result(schedule.end.size(), std::numeric_limits<double>::quiet_NaN());
  for (auto it = schedule.order.rbegin(); it != schedule.order.rend(); ++it) {
    const Id id = *it;
    for (const Id after : graph.successors(id)) {
      latest[id] = std::min(latest[id], latest[after] - graph.operation(after).seconds);
    }
    result[id] = std::max(0.0, latest[id] - schedule.end[id]);
    const Id before = schedule.before_on_lane[id];
    if (before == OperationGraph::kNone) continue;
    latest[before] = std::min(latest[before], latest[id] - graph.operation(id).seconds);
  }
  return result;
}

std::vector<OperationGain> most_helpful(const OperationGraph& graph, const GainOptions& options) {
  if (!(options.shorter > 0 && options.shorter <= 1)) {
    throw ValueError(
        fmt::format("what helps most: operations shorter by {}; expected a share above 0, at most "
                    "1, such as 0.1",
                    options.shorter));
  }
  const OperationSchedule whole = schedule(graph);
  std::vector<Id> tried = binding_chain(graph, whole);
  std::ranges::stable_sort(tried, std::greater<>(),
                           [&](Id id) { return graph.operation(id).seconds; });
  if (tried.size() > options.most_tried) tried.resize(options.most_tried);
  OperationGraph changed = graph;
  std::vector<OperationGain> gains;
  for (const Id id : tried) {
    const double seconds = graph.operation(id).seconds;
    changed.retime(id, seconds * (1 - options.shorter));
    gains.push_back({id, whole.seconds - schedule(changed).seconds});
    changed.retime(id, seconds);
  }
  std::ranges::stable_sort(gains, std::greater<>(), &OperationGain::seconds);
  return gains;
}

Timeline to_timeline(const OperationGraph& graph, const OperationSchedule& schedule) {
  const auto ns = [](double seconds) { return std::llround(seconds * 1e9); };
  int shared = 0;  // ranks of a timeline count from 0: shared lanes come last
  for (const OperationLane& lane : graph.lanes()) shared = std::max(shared, lane.rank + 1);
  const auto rank_of = [&](const OperationLane& lane) {
    return lane.rank == OperationLane::kShared ? shared : lane.rank;
  };
  Timeline timeline;
  for (std::size_t i = 0; i < graph.lanes().size(); ++i) {
    const OperationLane& lane = graph.lanes()[i];
    const int rank = rank_of(lane);
    timeline.lanes.push_back({rank, static_cast<int>(i), lane.name});
    if (std::ranges::find(timeline.ranks, rank, &TraceRank::rank) == timeline.ranks.end()) {
      timeline.ranks.push_back({.rank = rank});
    }
  }
  std::ranges::sort(timeline.ranks, {}, &TraceRank::rank);
  for (const Id id : schedule.order) {
    const Operation& operation = graph.operation(id);
    const OperationLane& lane = graph.lanes()[operation.lane];
    timeline.records.push_back(
        {.kind = lane.width == 1 ? TraceRecord::Kind::span : TraceRecord::Kind::overlapping,
         .rank = rank_of(lane),
         .lane = static_cast<int>(operation.lane),
         .id = id + 1,
         .begin_ns = ns(schedule.begin[id]),
         .end_ns = ns(schedule.end[id]),
         .level = "prediction",
         .name = operation.name,
         .arguments = operation.attributes});
    timeline.records.back().arguments.push_back({"kind", operation.kind});
  }
  timeline.sort();
  return timeline;
}

}  // namespace d5
