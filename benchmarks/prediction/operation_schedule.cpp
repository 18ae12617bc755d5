// SPDX-License-Identifier: Apache-2.0
// Time to schedule a million operations: steps of many ranks that sum their gradients.
#include <benchmark/benchmark.h>

#include <string>

#include "d5/prediction/graph/operation_schedule.hpp"

namespace {

using namespace d5;

/// Each rank runs forward and backward through its layers. After each layer's backward step all
/// ranks sum gradients, on a shared port, and update.
OperationGraph training(int ranks, std::size_t operations) {
  OperationGraph graph("training");
  const std::size_t layers = operations / (3 * std::size_t(ranks) + 1);
  const std::size_t port = graph.lane(OperationLane::kShared, "network");
  std::vector<std::size_t> compute;
  std::vector<OperationGraph::Id> last(std::size_t(ranks), OperationGraph::kNone);
  for (int rank = 0; rank < ranks; ++rank) compute.push_back(graph.lane(rank, "compute"));
  const auto run = [&](std::size_t rank, const char* kind, std::size_t layer) {
    const double seconds = 1e-3 * double(1 + (layer * 7 + rank) % 5);
    const auto id = graph.add({std::to_string(layer), kind, compute[rank], seconds});
    if (last[rank] != OperationGraph::kNone) graph.add_edge(last[rank], id);
    return last[rank] = id;
  };
  for (std::size_t layer = 0; layer < layers; ++layer) {
    for (std::size_t rank = 0; rank < compute.size(); ++rank) run(rank, "forward", layer);
  }
  for (std::size_t layer = layers; layer-- > 0;) {
    const auto sum = graph.add({"sum", "all_reduce", port, 2e-3, std::int64_t(layer % 3)});
    for (std::size_t rank = 0; rank < compute.size(); ++rank) {
      graph.add_edge(run(rank, "backward", layer), sum);
      graph.add({"update", "update", compute[rank], 1e-4}, {sum});
    }
  }
  return graph;
}

void schedules(benchmark::State& state) {
  const OperationGraph graph = training(int(state.range(0)), 1'000'000);
  for (auto _ : state) {
    benchmark::DoNotOptimize(schedule(graph).seconds);
  }
  state.counters["operations"] = double(graph.size());
}
BENCHMARK(schedules)->Arg(1)->Arg(16)->Arg(256)->Unit(benchmark::kMillisecond);

void builds(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(training(int(state.range(0)), 1'000'000).size());
  }
}
BENCHMARK(builds)->Arg(16)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
