// SPDX-License-Identifier: Apache-2.0
// Rounds simulated without ranks, against the ranks that run them.
#include "d5/prediction/simulation/planned_run.hpp"

#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/phantom_tensor.hpp"
#include "d5/level3_distributed/collectives/planned_collective.hpp"
#include "tests/prediction/simple_cluster.hpp"

namespace d5 {
namespace {

SimulationReport by_rounds(const std::string& name, int n, const ClusterDescription& cluster,
                           std::int64_t elements, const SimulationOptions& options) {
  const auto one = all_reduces().at(name).make();
  const auto& planned = dynamic_cast<const PlannedAllReduce&>(*one);
  return simulate_rounds(
      n, cluster,
      [&](int rank) { return planned.rounds({.rank = rank, .ranks = n, .elements = elements}); }, 4,
      options);
}

SimulationReport by_ranks(const std::string& name, int n, const ClusterDescription& cluster,
                          std::int64_t elements, const SimulationOptions& options) {
  return run_simulated(
      n, cluster,
      [&](SimulatedRank&, const std::shared_ptr<Communicator>& ranks) {
        Tensor data = phantom_tensor({DType::float32, {elements}});
        all_reduces().at(name).make()->start(*ranks, data)->wait();
      },
      options);
}

}  // namespace

TEST_CASE("rounds take the time that ranks take") {
  ClusterDescription busy = simple_cluster(16);  // with work at both ends of a message
  busy.overhead = {3e-6, "test"};
  busy.end_bandwidth = {5e9, "test"};
  ClusterDescription pairs = simple_cluster(8);
  pairs.ranks_per_host = 2;
  pairs.host_latency = {1e-6, "test"};
  pairs.host_bandwidth = {9e9, "test"};
  for (const auto& cluster : {simple_cluster(16), busy, pairs}) {
    for (const char* model : {"closed", "ports"}) {
      for (const char* name : {"ring", "segmented_ring", "recursive_doubling", "rabenseifner",
                               "binomial_tree", "double_tree"}) {
        for (const int n : {1, 2, 3, 8, 16}) {
          for (const std::int64_t elements : {3, 100'003, 1'000'000}) {
            const SimulationOptions options{.model = {model}};
            CAPTURE(model, name, n, elements, cluster.overhead.value, cluster.ranks_per_host);
            const auto rounds = by_rounds(name, n, cluster, elements, options);
            const auto ranks = by_ranks(name, n, cluster, elements, options);
            CHECK(rounds.seconds == Approx(ranks.seconds).epsilon(kTimeRounding));
            CHECK(rounds.messages == ranks.messages);
            CHECK(rounds.largest_bytes == ranks.largest_bytes);
          }
        }
      }
    }
  }
}

TEST_CASE("rounds that do not match are refused, and a budget ends them") {
  const auto alone = [](int rank) {
    CollectivePlan plan;
    if (rank == 0) plan.round(0).receives.push_back({1, {0, 10}});
    return rounds_of(plan);
  };
  CHECK_THROWS_WITH(simulate_rounds(2, simple_cluster(2), alone, 4), Catch::Contains("1 wait for"));
  CHECK_THROWS_AS(simulate_rounds(0, simple_cluster(2), alone, 4), ValueError);
  SimulationOptions options;
  options.most_wall_seconds = 1e-9;
  CHECK_THAT(by_rounds("ring", 512, simple_cluster(512), 1'000'000, options).stopped,
             Catch::Contains("real time"));
}

}  // namespace d5
