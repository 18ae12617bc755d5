// SPDX-License-Identifier: Apache-2.0
// Virtual times of ranks of one machine in shared memory, compared with closed forms.
#include <catch2/catch.hpp>

#include <functional>
#include <memory>
#include <vector>

#include "d5/core/clocks/clock.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/phantom_tensor.hpp"
#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"
#include "d5/prediction/simulation/simulated_run.hpp"
#include "d5/prediction/simulation/timed_optimizer.hpp"
#include "prediction/networks/fluid_share.hpp"
#include "tests/prediction/simple_cluster.hpp"

namespace d5 {
namespace {

using Ranks = std::shared_ptr<Communicator>;

/// The slowest rank's all-reduce by node_memory, when all have made their memory.
double node_memory_seconds(int n, std::int64_t bytes, const ClusterDescription& cluster,
                           const RankRates& rates) {
  double slowest = 0;
  SimulationOptions options;
  options.rates = rates;
  (void)run_simulated(
      n, cluster,
      [&](SimulatedRank& rank, const Ranks& ranks) {
        const auto all_reduce = all_reduces().at("node_memory").make();
        Tensor data = phantom_tensor({DType::float32, {bytes / 4}});
        all_reduce->prepare(*ranks);
        rank.spend(1 - rank.now());  // all begin at one time
        all_reduce->start(*ranks, data)->wait();
        slowest = std::max(slowest, rank.now() - 1);
      },
      options);
  return slowest;
}

TEST_CASE("a chunk through a node's memory is written, summed, written and read") {
  const RankRates rates{.reduce_bandwidth = 8e9,
                        .copy_bandwidth = 9e9,
                        .shared_bandwidth = 4e9,
                        .shared_reduce_bandwidth = 2e9};
  const double bytes = 49152;  // one chunk, which 2, 3 and 4 ranks share in whole lines
  for (const int n : {2, 3, 4}) {
    CAPTURE(n);
    const double part = bytes / n;
    // Ranks from 2 on sum in their slot: they copy rank 0's part there, and add as many as others.
    const double copies = n == 2 ? 3 * part : 2 * (n - 1) * part + 2 * part;
    CHECK(node_memory_seconds(n, std::int64_t(bytes), memory_cluster(n), rates) ==
          Approx(copies / 4e9 + (n - 1) * part / 2e9).epsilon(kTimeRounding));
  }
}

TEST_CASE("ranks signal each other what is written, and what is summed") {
  ClusterDescription cluster = memory_cluster(2);
  cluster.signal = {1e-6, "test"};
  const double took = node_memory_seconds(2, 4096, cluster, {});
  CHECK(took >= 2e-6 * (1 - kTimeRounding));
  CHECK(took <= 4e-6 * (1 + kTimeRounding));  // each looked just before the signal
}

TEST_CASE("chunks follow each other through a node's memory") {
  const RankRates rates{.shared_bandwidth = 4e9};
  const std::int64_t bytes = 10 << 20;
  // Each of two ranks writes a half, writes its sum and reads a half: nobody waits for long.
  CHECK(node_memory_seconds(2, bytes, memory_cluster(2), rates) ==
        Approx(1.5 * double(bytes) / 4e9).epsilon(1e-6));
}

TEST_CASE("work that shares a medium is as much slower as it asks for more than there is") {
  detail::FluidShare<char> medium;
  medium.add('a', 1, 0.6, 0);
  medium.add('b', 1, 0.6, 0.5);  // a has half of it left, and both are 1.2 times as slow
  CHECK(medium.next() == Approx(1.1));
  CHECK(medium.take() == 'a');
  CHECK(medium.next() == Approx(1.6));  // the half that b has left is alone
  CHECK(medium.take() == 'b');
  CHECK(medium.empty());
  CHECK(std::isinf(medium.next()));
}

TEST_CASE("ranks of a node that sum at once are slower than one alone") {
  SimulationOptions options;
  options.rates = {.reduce_bandwidth = 1e9, .ranks = 4, .alone = 2};
  const auto took = [&](int busy) {
    double slowest = 0;
    (void)run_simulated(
        4, memory_cluster(4),
        [&](SimulatedRank& rank, const Ranks& ranks) {
          if (rank.rank() >= busy) return;
          Tensor into = phantom_tensor({DType::float32, {250'000}});
          ranks->reduce_local(into, into);
          slowest = std::max(slowest, rank.now());
        },
        options);
    return slowest;
  };
  // One takes half of the memory: two are as fast as one.
  CHECK(took(1) == Approx(0.5e-3));
  CHECK(took(2) == Approx(0.5e-3));
  CHECK(took(3) == Approx(0.75e-3));
  CHECK(took(4) == Approx(1e-3));
}

TEST_CASE("ranks that share no memory sum as fast as they were measured, all at once") {
  SimulationOptions options;
  options.rates = {.reduce_bandwidth = 1e9, .ranks = 4, .alone = 2};
  const auto report = run_simulated(
      4, simple_cluster(4),
      [&](SimulatedRank&, const Ranks& ranks) {
        Tensor into = phantom_tensor({DType::float32, {250'000}});
        ranks->reduce_local(into, into);
      },
      options);
  CHECK(report.seconds == Approx(1e-3));
}

TEST_CASE("messages of all ranks at once share the medium, and one alone has it") {
  ClusterDescription cluster = memory_cluster(3);
  cluster.medium_share = {0.5, "test"};
  const auto took = [&](int senders) {
    double slowest = 0;
    (void)run_simulated(3, cluster, [&](SimulatedRank& rank, const Ranks& ranks) {
      const int n = ranks->size();
      Tensor data = phantom_tensor({DType::float32, {1000}});  // eager
      if (rank.rank() < senders) ranks->send(data, (rank.rank() + 1) % n);
      const int left = (rank.rank() + n - 1) % n;
      if (left < senders) ranks->receive(data, left);
      slowest = std::max(slowest, rank.now());
    });
    return slowest;
  };
  const double alone = 4000 / kSimpleBandwidth;
  CHECK(took(1) == Approx(alone + kSimpleLatency));
  CHECK(took(2) == Approx(alone + kSimpleLatency));
  CHECK(took(3) == Approx(1.5 * alone + kSimpleLatency));
}

TEST_CASE("a rank's messages follow each other through a medium") {
  ClusterDescription cluster = memory_cluster(2);
  cluster.medium_share = {0.5, "test"};
  const auto report = run_simulated(2, cluster, [&](SimulatedRank& rank, const Ranks& ranks) {
    Tensor data = phantom_tensor({DType::float32, {1000}});
    std::vector<std::unique_ptr<Request>> calls;
    for (int i = 0; i < 3; ++i) {
      calls.push_back(rank.rank() == 0 ? ranks->start_send(data, 1)
                                       : ranks->start_receive(data, 0));
    }
    for (const auto& call : calls) call->wait();
  });
  CHECK(report.seconds == Approx(3 * 4000 / kSimpleBandwidth + kSimpleLatency));
}

TEST_CASE("training over a node's memory is simulated, moved on by polls or by a thread") {
  const TimedStep times{.forward = 1e-3,
                        .gradients = {{"a", 1000, 1e-3, 1e-4}, {"b", 1000, 1e-3, 1e-4}}};
  for (const auto progress : {SimulatedProgressRule::poll, SimulatedProgressRule::thread}) {
    for (const char* algorithm : {"node_memory", "auto", "hierarchical"}) {
      CAPTURE(algorithm);
      SimulationOptions options;
      options.progress = progress;
      options.rates.copy_bandwidth = 1e9;
      (void)run_simulated(
          4, memory_cluster(4),
          [&](SimulatedRank& rank, const Ranks& ranks) {
            const auto scheme = distributed_optimizers()
                                    .at("consistent_decentralized")
                                    .make(make_timed_optimizer(rank, times), ranks,
                                          {{"all_reduce", algorithm}, {"bucket_bytes", "1"}});
            (void)scheme->step(timed_batch());
            const double begin = rank.now();
            (void)scheme->step(timed_batch());
            CHECK(rank.now() - begin > 3.2e-3 * (1 - kTimeRounding));
            CHECK(rank.now() - begin < 3.5e-3);
          },
          options);
    }
  }
}

TEST_CASE("what writes memory with no message and no copy is not simulated") {
  (void)run_simulated(2, memory_cluster(2), [](SimulatedRank& rank, const Ranks& ranks) {
    const TimedStep times{.forward = 1e-3, .gradients = {{"a", 1000, 1e-3, 1e-4}}};
    for (const char* name : {"hogwild", "asynchronous_neighbors"}) {
      CAPTURE(name);
      CHECK_THROWS_AS(
          distributed_optimizers().at(name).make(make_timed_optimizer(rank, times), ranks),
          Unsupported);
    }
  });
}

}  // namespace
}  // namespace d5
