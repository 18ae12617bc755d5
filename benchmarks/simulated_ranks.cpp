// SPDX-License-Identifier: Apache-2.0
// What simulating costs: networks alone, messages a second, and whole all-reduces of 100 MB on
// simulated ranks, whose virtual time stands beside the closed form.
//
//     bench_simulated_ranks --benchmark_filter=ring/1024
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <cmath>
#include <string>

#include "d5/core/random.hpp"
#include "d5/level3_distributed/collective.hpp"
#include "d5/prediction/phantom_tensor.hpp"
#include "d5/prediction/simulated_network.hpp"
#include "d5/prediction/simulated_run.hpp"
#include "tests/prediction/simple_network.hpp"

namespace {

using namespace d5;

/// Each rank has one message under way, to a rank of chance; when it is there, its receiver sends
/// the next.
void network_alone(benchmark::State& state, const std::string& model) {
  const auto ranks = static_cast<int>(state.range(0));
  const auto network = simulated_networks().at(model).make(simple_network(ranks), ranks);
  RandomStream random(7);
  const auto other = [&](int rank) {
    return static_cast<int>((rank + 1 + random.below(static_cast<std::uint64_t>(ranks - 1))) %
                            static_cast<std::uint64_t>(ranks));
  };
  std::vector<int> to(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    to[static_cast<std::size_t>(rank)] = other(rank);
    network->start({rank, rank, to[static_cast<std::size_t>(rank)], 10'000}, 0);
  }
  std::vector<SimulatedNetwork::Change> changes;
  std::int64_t messages = 0;
  for (auto _ : state) {  // choosing the next receiver too
    (void)network->advance(INFINITY, changes);
    for (const auto& [id, what, time] : changes) {
      if (what != SimulatedNetwork::What::arrived) continue;
      int& last = to[static_cast<std::size_t>(id)];
      const int from = last;
      last = other(from);
      network->start({id, from, last, 10'000}, time);
      ++messages;
    }
  }
  state.counters["messages/s"] =
      benchmark::Counter(static_cast<double>(messages), benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(network_alone, closed, "closed")->Arg(1024);
BENCHMARK_CAPTURE(network_alone, ports, "ports")->Arg(1024);

void all_reduce(benchmark::State& state, const std::string& algorithm, const std::string& model) {
  const auto n = static_cast<int>(state.range(0));
  constexpr std::int64_t kBytes = 100'000'000;
  SimulationOptions options;
  options.model = {model};
  SimulationReport report;
  for (auto _ : state) {  // making the ranks, all their messages, and letting go of them
    report = run_simulated(
        n, simple_network(n),
        [&](SimulatedRank&, const std::shared_ptr<Communicator>& ranks) {
          Tensor data = phantom_tensor({DType::float32, {kBytes / 4}});
          all_reduces().at(algorithm).make()->start(*ranks, data)->wait();
        },
        options);
  }
  state.counters["messages/s"] = static_cast<double>(report.messages) / report.wall_seconds;
  state.counters["virtual_s"] = report.seconds;
  const double steps = 2.0 * (n - 1);
  if (algorithm == "ring") {
    state.counters["off_closed_form"] =
        report.seconds / (steps / n * kBytes / 1e9 + steps * 50e-6) - 1;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["peak_MiB"] = static_cast<double>(usage.ru_maxrss) / 1024;
}
BENCHMARK_CAPTURE(all_reduce, ring, "ring", "ports")
    ->RangeMultiplier(4)
    ->Range(2, 2048)
    ->Arg(1024)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(all_reduce, rabenseifner, "rabenseifner", "ports")
    ->Arg(1024)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
