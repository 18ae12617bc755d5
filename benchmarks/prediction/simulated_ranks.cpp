// SPDX-License-Identifier: Apache-2.0
// Cost of simulation: networks alone, in messages per second, and whole all-reduces of 100 MB on
// simulated ranks, whose virtual time is printed beside the closed form.
//
//     bench_simulated_ranks --benchmark_filter=ring/1024
//
// Rates are per second of processor time, so that other load on the machine counts less.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <cmath>
#include <string>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/phantom_tensor.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"
#include "d5/prediction/networks/simulated_network.hpp"
#include "d5/prediction/simulation/simulated_run.hpp"
#include "d5/prediction/simulation/timed_optimizer.hpp"
#include "tests/prediction/simple_cluster.hpp"

namespace {

using namespace d5;

/// Whether the framework of a network is missing.
bool is_absent(const std::string& model, benchmark::State& state) {
  try {
    (void)find_simulated_network(model);
    return false;
  } catch (const Unsupported& error) {
    state.SkipWithError(error.what());
    return true;
  }
}

/// Each rank has one message in flight, to a random rank; on its arrival the receiver sends the
/// next.
void network_alone(benchmark::State& state, const std::string& model) {
  const auto ranks = static_cast<int>(state.range(0));
  if (is_absent(model, state)) return;
  const auto network = find_simulated_network(model).make(simple_cluster(ranks), ranks);
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
BENCHMARK_CAPTURE(network_alone, simgrid, "simgrid")->Arg(64)->UseRealTime();  // another process

constexpr std::int64_t kBytes = 100'000'000;

double closed_form(int n) {
  const double steps = 2.0 * (n - 1);
  return steps / n * kBytes / kSimpleBandwidth + steps * kSimpleLatency;
}

/// The messages of a ring all-reduce without ranks: the receiver of a part sends the next one.
void ring_alone(benchmark::State& state, const std::string& model) {
  const auto n = static_cast<int>(state.range(0));
  std::int64_t messages = 0;
  double seconds = 0;
  for (auto _ : state) {  // making the network too
    if (is_absent(model, state)) return;
    const auto network = find_simulated_network(model).make(simple_cluster(n), n);
    std::vector<int> steps(static_cast<std::size_t>(n));
    const auto send = [&](int from, double now) {
      ++messages;
      network->start({from, from, (from + 1) % n, kBytes / n}, now);
    };
    for (int rank = 0; rank < n; ++rank) send(rank, 0);
    std::vector<SimulatedNetwork::Change> changes;
    while (network->advance(INFINITY, changes)) {
      for (const auto& [id, what, time] : changes) {
        if (what != SimulatedNetwork::What::arrived) continue;
        seconds = time;
        const int at = static_cast<int>((id + 1) % n);
        if (++steps[static_cast<std::size_t>(at)] < 2 * (n - 1)) send(at, time);
      }
    }
  }
  state.counters["messages/s"] =
      benchmark::Counter(static_cast<double>(messages), benchmark::Counter::kIsRate);
  state.counters["virtual_s"] = seconds;
  state.counters["off_closed_form"] = seconds / closed_form(n) - 1;
}
BENCHMARK_CAPTURE(ring_alone, ports, "ports")
    ->RangeMultiplier(4)
    ->Range(2, 2048)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(ring_alone, simgrid, "simgrid")
    ->RangeMultiplier(4)
    ->Range(2, 1024)
    ->Iterations(1)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

void all_reduce(benchmark::State& state, const std::string& algorithm, const std::string& model) {
  const auto n = static_cast<int>(state.range(0));
  SimulationOptions options;
  options.model = {model};
  SimulationReport report;
  for (auto _ : state) {  // making the ranks, all their messages, and letting go of them
    report = run_simulated(
        n, simple_cluster(n),
        [&](SimulatedRank&, const std::shared_ptr<Communicator>& ranks) {
          Tensor data = phantom_tensor({DType::float32, {kBytes / 4}});
          all_reduces().at(algorithm).make()->start(*ranks, data)->wait();
        },
        options);
  }
  state.counters["messages/s"] =
      benchmark::Counter(static_cast<double>(report.messages), benchmark::Counter::kIsRate);
  state.counters["virtual_s"] = report.seconds;
  if (algorithm == "ring") state.counters["off_closed_form"] = report.seconds / closed_form(n) - 1;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["peak_MiB"] = static_cast<double>(usage.ru_maxrss) / 1024;
}
BENCHMARK_CAPTURE(all_reduce, ring, "ring", "ports")
    ->RangeMultiplier(4)
    ->Range(2, 2048)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(all_reduce, rabenseifner, "rabenseifner", "ports")
    ->Arg(1024)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

/// Training steps with 100 MB of gradients in 25 tensors; a step alone takes 150 ms.
void training(benchmark::State& state, SimulatedProgressRule progress) {
  const auto n = static_cast<int>(state.range(0));
  TimedStep times{.forward = 50e-3, .gradients = {}, .rest = 0};
  for (int i = 0; i < 25; ++i)
    times.gradients.push_back({fmt::format("p{}", i), 1'000'000, 4e-3, 0});
  SimulationOptions options;
  options.progress = progress;
  double step = 0;
  for (auto _ : state) {  // three steps
    (void)run_simulated(
        n, simple_cluster(n),
        [&](SimulatedRank& rank, const std::shared_ptr<Communicator>& ranks) {
          const auto scheme = distributed_optimizers()
                                  .at("consistent_decentralized")
                                  .make(make_timed_optimizer(rank, times), ranks,
                                        {{"all_reduce", "ring"}, {"bucket_bytes", "4194304"}});
          for (int i = 0; i < 3; ++i) {
            const double begin = rank.now();
            (void)scheme->step(timed_batch());
            if (rank.rank() == 0) step = rank.now() - begin;
          }
        },
        options);
  }
  state.counters["step_s"] = step;
  state.counters["alone_s"] = times.seconds();
}
BENCHMARK_CAPTURE(training, poll, SimulatedProgressRule::poll)
    ->Arg(4)
    ->Arg(12)
    ->Arg(64)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(training, thread, SimulatedProgressRule::thread)
    ->Arg(4)
    ->Arg(12)
    ->Arg(64)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
