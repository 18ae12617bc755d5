// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/graph/operation_schedule.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <tuple>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/random.hpp"

namespace d5 {
namespace {

using Id = OperationGraph::Id;

/// Any graph without circles: edges lead from lower ids to higher ones. Times are small whole
/// numbers, some of them 0, so that much happens at one moment and sums are exact.
OperationGraph random_graph(std::uint64_t seed, std::size_t operations) {
  RandomStream random(seed);
  const auto below = [&](std::uint64_t end) { return random.below(end); };
  OperationGraph graph("random");
  std::vector<std::size_t> lanes;
  for (int i = 0; i < 4; ++i) {
    lanes.push_back(graph.lane(i % 2, i < 2 ? "compute" : "network", i == 3 ? 2 : i == 2 ? 0 : 1));
  }
  for (std::size_t i = 0; i < operations; ++i) {
    const Id id = graph.add({std::to_string(i), "forward", lanes[below(lanes.size())],
                             static_cast<double>(below(6)), static_cast<std::int64_t>(below(3))});
    for (int edge = 0; id > 0 && edge < 3; ++edge) {
      if (below(2) == 0) graph.add_edge(below(id), id);
    }
  }
  return graph;
}

/// A naive implementation of the same rules that considers everything at each moment.
std::vector<double> slow_schedule(const OperationGraph& graph) {
  const std::size_t count = graph.id_end();
  std::vector<double> begin(count, -1), ready(count, -1);
  std::vector<bool> over(count, false);
  double now = 0;
  for (std::size_t left = count; left > 0;) {
    for (Id id = 0; id < count; ++id) {
      if (begin[id] < 0 || over[id] || begin[id] + graph.operation(id).seconds > now) continue;
      over[id] = true;
      --left;
    }
    for (Id id = 0; id < count; ++id) {
      const auto& before = graph.predecessors(id);
      if (ready[id] < 0 && std::ranges::all_of(before, [&](Id b) { return over[b]; })) {
        ready[id] = now;
      }
    }
    bool began = false;
    for (std::size_t lane = 0; lane < graph.lanes().size(); ++lane) {
      for (;;) {
        int busy = 0;
        Id best = OperationGraph::kNone;
        for (Id id = 0; id < count; ++id) {
          if (graph.operation(id).lane != lane) continue;
          if (begin[id] >= 0 && !over[id]) ++busy;
          if (begin[id] >= 0 || ready[id] < 0) continue;
          const auto rank = [&](Id each) {
            return std::tuple(-graph.operation(each).priority, ready[each], each);
          };
          if (best == OperationGraph::kNone || rank(id) < rank(best)) best = id;
        }
        const int width = graph.lanes()[lane].width;
        if (best == OperationGraph::kNone || (width > 0 && busy >= width)) break;
        begin[best] = now;
        began = true;
      }
    }
    if (began) {
      // Those of no time are over at this very moment.
      const bool any = std::ranges::any_of(graph.ids(), [&](Id id) {
        return begin[id] == now && !over[id] && graph.operation(id).seconds == 0;
      });
      if (any) continue;
    }
    double next = INFINITY;
    for (Id id = 0; id < count; ++id) {
      if (begin[id] < 0 || over[id]) continue;
      next = std::min(next, begin[id] + graph.operation(id).seconds);
    }
    if (std::isfinite(next)) now = next;
  }
  return begin;
}

TEST_CASE("random graphs are scheduled as a slow reading of the rules does") {
  const auto seed = static_cast<std::uint64_t>(GENERATE(range(0, 200)));
  const OperationGraph graph = random_graph(seed, 1 + seed % 60);
  INFO("seed " << seed);
  const OperationSchedule fast = schedule(graph);
  CHECK(fast.begin == slow_schedule(graph));
}

TEST_CASE("critical path <= schedule <= sum of all, and no lane makes it the critical path") {
  const auto seed = static_cast<std::uint64_t>(GENERATE(range(0, 100)));
  const OperationGraph graph = random_graph(seed, 80);
  INFO("seed " << seed);
  const CriticalPath path = critical_path(graph);
  const OperationSchedule real = schedule(graph);
  CHECK(path.seconds <= real.seconds);
  CHECK(real.seconds <= graph.total_seconds());
  CHECK(schedule(graph, Lanes::unlimited).seconds == path.seconds);
  // The longest way by its definition, one operation after the other.
  std::vector<double> longest(graph.id_end());
  double most = 0;
  for (const Id id : graph.order()) {
    for (const Id before : graph.predecessors(id)) {
      longest[id] = std::max(longest[id], longest[before]);
    }
    most = std::max(most, longest[id] += graph.operation(id).seconds);
  }
  CHECK(path.seconds == most);
  double sum = 0;
  for (const Id id : path.operations) sum += graph.operation(id).seconds;
  CHECK(sum == path.seconds);
}

TEST_CASE("the chain that binds a schedule is as long as the schedule") {
  const auto seed = static_cast<std::uint64_t>(GENERATE(range(0, 50)));
  const OperationGraph graph = random_graph(seed, 80);
  INFO("seed " << seed);
  const OperationSchedule real = schedule(graph);
  double sum = 0;
  for (const Id id : binding_chain(graph, real)) sum += graph.operation(id).seconds;
  CHECK(sum == real.seconds);
}

TEST_CASE("an operation that takes its slack longer leaves the schedule as long as it is") {
  // A fork that joins: 5 s on one way, 2 s on the other.
  OperationGraph graph;
  const auto compute = graph.lane(0, "compute"), network = graph.lane(0, "network");
  const auto a = graph.add({"a", "forward", compute, 1});
  const auto long_way = graph.add({"long", "forward", compute, 5}, {a});
  const auto short_way = graph.add({"short", "all_reduce", network, 2}, {a});
  const auto join = graph.add({"join", "update", compute, 1}, {long_way, short_way});
  const OperationSchedule before = schedule(graph);
  CHECK(before.seconds == 7);
  const auto slacks = slack(graph, before);
  CHECK(slacks == std::vector<double>{0, 0, 3, 0});
  graph.retime(short_way, 5);
  CHECK(schedule(graph).seconds == 7);
  graph.retime(short_way, 6);
  CHECK(schedule(graph).seconds == 8);
  CHECK(before.begin[join] == 6);
}

TEST_CASE("a lane's next operation limits slack as an edge does") {
  OperationGraph graph;
  const auto lane = graph.lane(0, "compute");
  graph.add({"first", "forward", lane, 1});
  graph.add({"second", "forward", lane, 2});
  CHECK(slack(graph, schedule(graph)) == std::vector<double>{0, 0});
  CHECK(slack(graph, schedule(graph, Lanes::unlimited)) == std::vector<double>{1, 0});
}

TEST_CASE("what has priority goes first, but nothing that runs is stopped for it") {
  OperationGraph graph;
  const auto lane = graph.lane(0, "network");
  graph.add({"runs", "all_reduce", lane, 2});
  graph.add({"waits", "all_reduce", lane, 1});
  const auto other = graph.lane(0, "compute");
  const auto late = graph.add({"late", "backward", other, 1});
  const auto urgent = graph.add({"urgent", "all_reduce", lane, 1, 5}, {late});
  const OperationSchedule result = schedule(graph);
  CHECK(result.begin[0] == 0);
  CHECK(result.begin[urgent] == 2);
  CHECK(result.begin[1] == 3);
  CHECK(result.seconds == 4);
}

TEST_CASE("what helps most is found by trying, and the other way counts too") {
  // 6 s beside 5.8 s: a tenth of 6 s gains only what the other way leaves, 0.2 s.
  OperationGraph graph;
  const auto compute = graph.lane(0, "compute"), network = graph.lane(0, "network");
  const auto start = graph.add({"start", "forward", compute, 3});
  const auto wide = graph.add({"wide", "forward", compute, 6}, {start});
  graph.add({"beside", "all_reduce", network, 5.8}, {start});
  const auto gains = most_helpful(graph);
  REQUIRE(gains.size() == 2);
  CHECK(gains[0].id == start);
  CHECK(gains[0].seconds == Approx(0.3));
  CHECK(gains[1].id == wide);
  CHECK(gains[1].seconds == Approx(0.2));
  CHECK_THROWS_AS(most_helpful(graph, {.shorter = 0}), ValueError);
}

TEST_CASE("a graph of nothing takes no time, and one with a circle has no schedule") {
  OperationGraph graph("empty");
  CHECK(schedule(graph).seconds == 0);
  CHECK(critical_path(graph).operations.empty());
  CHECK(most_helpful(graph).empty());
  const auto lane = graph.lane(0, "compute");
  const auto a = graph.add({"a", "forward", lane, 1}),
             b = graph.add({"b", "forward", lane, 1}, {a});
  graph.add_edge(b, a);
  CHECK_THROWS_AS(schedule(graph), ValueError);
}

TEST_CASE("a lane is as wide as it says, however wide that is") {
  OperationGraph graph("wide");
  const auto lane = graph.lane(0, "compute", std::numeric_limits<int>::max());
  graph.add({"a", "forward", lane, 2});
  graph.add({"b", "forward", lane, 3});
  CHECK(schedule(graph).seconds == 3);
}

TEST_CASE("a timeline has the schedule's spans, on its ranks and lanes") {
  OperationGraph graph("two");
  const auto a = graph.add({"a", "forward", graph.lane(0, "compute"), 1e-3});
  graph.add({"sum",
             "all_reduce",
             graph.lane(OperationLane::kShared, "network"),
             2e-3,
             0,
             {},
             {{"bytes", std::int64_t{8}}}},
            {a});
  const Timeline timeline = to_timeline(graph, schedule(graph));
  REQUIRE(timeline.records.size() == 2);
  CHECK(timeline.records[1].begin_ns == 1'000'000);
  CHECK(timeline.records[1].end_ns == 3'000'000);
  CHECK(timeline.records[1].rank == 1);
  CHECK(timeline.ranks.size() == 2);
  CHECK(timeline_from_json(to_json(timeline), "two.json") == timeline);
}

}  // namespace
}  // namespace d5
