// SPDX-License-Identifier: Apache-2.0
// Times of collectives on simulated ranks, against closed forms.
#include <catch2/catch.hpp>

#include <bit>
#include <memory>

#include "d5/core/tensor/phantom_tensor.hpp"
#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/prediction/simulation/simulated_run.hpp"
#include "tests/prediction/simple_cluster.hpp"

namespace d5 {
namespace {

using Ranks = std::shared_ptr<Communicator>;

double simulated_seconds(int n, const SimulationOptions& options,
                         const std::function<void(SimulatedRank&, const Ranks&)>& function) {
  return run_simulated(n, simple_cluster(n), function, options).seconds;
}

double simulated_seconds(const ClusterDescription& cluster, int n,
                         const std::function<void(SimulatedRank&, const Ranks&)>& function) {
  return run_simulated(n, cluster, function).seconds;
}

ClusterDescription two_ranks_a_host(int n) {
  ClusterDescription cluster = simple_cluster(n / 2);
  cluster.ranks_per_host = 2;
  return cluster;
}

TEST_CASE("the ring takes 2(n - 1)/n S/B + 2(n - 1) L, phantoms as well as data") {
  const int n = GENERATE(2, 3, 5, 16, 64);
  const bool phantom = GENERATE(true, false);
  SimulationOptions options;
  options.model = {GENERATE("closed", "ports")};
  const std::int64_t elements = 240 * 1000;  // 2, 3, 5, 16 and 64 share it equally
  const double took = simulated_seconds(n, options, [&](SimulatedRank&, const Ranks& ranks) {
    Tensor data = phantom ? phantom_tensor({DType::float32, {elements}})
                          : Tensor::zeros(DType::float32, {elements});
    all_reduces().at("ring").make()->start(*ranks, data)->wait();
  });
  const double steps = 2.0 * (n - 1);
  const double bytes = 4.0 * double(elements);
  CHECK(
      took ==
      Approx(steps / n * bytes / kSimpleBandwidth + steps * kSimpleLatency).epsilon(kTimeRounding));
}

TEST_CASE("recursive doubling takes log2 n (S/B + L)") {
  const int n = GENERATE(2, 4, 32);
  const double took = simulated_seconds(n, {}, [&](SimulatedRank&, const Ranks& ranks) {
    Tensor data = phantom_tensor({DType::float32, {1'000'000}});
    all_reduces().at("recursive_doubling").make()->start(*ranks, data)->wait();
  });
  CHECK(took == Approx(std::bit_width(unsigned(n) - 1) * (4e6 / kSimpleBandwidth + kSimpleLatency))
                    .epsilon(kTimeRounding));
}

TEST_CASE("reductions and copies of a rank take the time that they are said to take") {
  SimulationOptions options;
  options.rates.reduce_bandwidth = 2e9;
  const double took = simulated_seconds(2, options, [&](SimulatedRank&, const Ranks& ranks) {
    Tensor data = phantom_tensor({DType::float32, {1'000'000}});
    all_reduces().at("recursive_doubling").make()->start(*ranks, data)->wait();
  });
  CHECK(took == Approx(4e6 / kSimpleBandwidth + kSimpleLatency + 4e6 / 2e9).epsilon(kTimeRounding));
}

TEST_CASE("a ring goes on only when its rank looks") {
  // 4 ranks: 6 rounds of 1 ms and the latency. A rank that computes for 100 ms and polls at the end
  // has done one round by then, and the other five after it.
  const auto step = [](int looks) {
    return simulated_seconds(4, {}, [looks](SimulatedRank& rank, const Ranks& ranks) {
      Tensor data = phantom_tensor({DType::float32, {1'000'000}});
      const auto ring = all_reduces().at("ring").make();
      auto request = ring->start(*ranks, data);
      for (int i = 0; i < looks; ++i) {
        rank.spend(0.1 / looks);
        (void)request->done();
      }
      request->wait();
    });
  };
  const double round = 1e-3 + kSimpleLatency;
  CHECK(step(1) == Approx(0.1 + 5 * round).epsilon(kTimeRounding));
  CHECK(step(1000) == Approx(0.1).epsilon(kTimeRounding));
}

TEST_CASE("phantoms pass through every collective, and nobody touches them") {
  const auto all = [](const auto& registry) { return registry.names(); };
  const int n = GENERATE(4, 6);
  for (const auto& name : all(all_reduces())) {
    const Settings settings =
        name == "with_resources" ? Settings{{"of", "ring"}} : Settings{};  // threads by itself
    CAPTURE(name);
    ClusterDescription cluster = memory_cluster(n);
    if (name == "hierarchical") cluster = two_ranks_a_host(n);
    CHECK(simulated_seconds(cluster, n, [&](SimulatedRank&, const Ranks& ranks) {
            Tensor data = phantom_tensor({DType::float32, {12'000}});
            const auto one = all_reduces().at(name).make(settings);
            one->start(*ranks, data)->wait();
            one->start(*ranks, data, Reduction::maximum)->wait();
          }) > 0);
  }
  for (const auto& name : all(broadcasts())) {
    CAPTURE(name);
    CHECK(simulated_seconds(n, {}, [&](SimulatedRank&, const Ranks& ranks) {
            Tensor data = phantom_tensor({DType::float32, {12'000}});
            broadcasts().at(name).make()->start(*ranks, data, 1)->wait();
          }) > 0);
  }
  for (const auto& name : all(all_gathers())) {
    CAPTURE(name);
    CHECK(simulated_seconds(n, {}, [&](SimulatedRank&, const Ranks& ranks) {
            Tensor mine = phantom_tensor({DType::float32, {2000}});
            Tensor data = phantom_tensor({DType::float32, {2000 * n}});
            all_gathers().at(name).make()->start(*ranks, mine, data)->wait();
          }) > 0);
  }
  for (const auto& name : all(reduce_scatters())) {
    CAPTURE(name);
    CHECK(simulated_seconds(n, {}, [&](SimulatedRank&, const Ranks& ranks) {
            Tensor mine = phantom_tensor({DType::float32, {2000}});
            Tensor data = phantom_tensor({DType::float32, {2000 * n}});
            reduce_scatters().at(name).make()->start(*ranks, data, mine)->wait();
          }) > 0);
  }
}

TEST_CASE("the same simulation takes the same virtual time to the bit") {
  const auto once = [] {
    return run_simulated(7, simple_cluster(7), [](SimulatedRank& rank, const Ranks& ranks) {
      Tensor data = phantom_tensor({DType::float32, {100'000}});
      rank.spend(1e-5 * (rank.rank() * 5 % 7));
      ranks->all_reduce(data);
      all_reduces().at("double_tree").make()->start(*ranks, data)->wait();
    });
  };
  const auto first = once(), second = once();
  CHECK(first.rank_seconds == second.rank_seconds);
  CHECK(first.switches == second.switches);
}

}  // namespace
}  // namespace d5
