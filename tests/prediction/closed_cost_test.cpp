// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/training_graphs/closed_cost.hpp"

#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

/// A message takes 1 s and 1 s a byte.
ClusterDescription plain_cluster() {
  ClusterDescription cluster;
  cluster.latency.value = 0.5;
  cluster.overhead.value = 0.25;
  cluster.bandwidth.value = 1;
  return cluster;
}

TEST_CASE("closed forms are those of the messages that a rank takes part in") {
  const auto seconds = [](const char* kind, const char* algorithm, double bytes,
                          std::int64_t ranks) {
    return closed_seconds(kind, {algorithm, bytes, ranks}, plain_cluster());
  };
  CHECK(seconds("all_reduce", "ring", 8, 4) == 6 + 12);
  CHECK(seconds("all_reduce", "rabenseifner", 8, 4) == 4 + 12);
  CHECK(seconds("all_reduce", "recursive_doubling", 8, 4) == 2 * 9);
  CHECK(seconds("all_reduce", "recursive_doubling", 8, 3) == 3 * 9);  // one folds in and out
  CHECK(seconds("all_reduce", "mpi", 8, 5) == 6 * 9);                 // down a tree and up again
  CHECK(seconds("negotiation", "ring", 8, 4) == seconds("all_reduce", "ring", 8, 4));
  CHECK(seconds("reduce_scatter", "ring", 8, 4) == 3 + 6);
  CHECK(seconds("all_gather", "ring", 2, 4) == 3 + 6);
  CHECK(seconds("all_gather", "bruck", 2, 4) == 2 + 6);
  CHECK(seconds("broadcast", "binomial", 8, 5) == 3 * 9);
  CHECK(seconds("reduce", "binomial", 8, 5) == 3 * 9);
  CHECK(seconds("gather", "binomial", 2, 5) == 3 + 8);
  CHECK(seconds("scatter", "binomial", 2, 5) == 3 + 8);
  CHECK(seconds("all_to_all", "pairwise", 8, 4) == 3 + 6);
  CHECK(seconds("barrier", "dissemination", 0, 5) == 3);
  CHECK(seconds("push", "", 8, 4) == 1 + 32);
  CHECK(seconds("send", "", 8, 4) == 1 + 8);
  CHECK(seconds("all_reduce", "ring", 8, 1) == 0);
  CHECK_THROWS_AS(seconds("all_reduce", "rign", 8, 4), NotFound);
  CHECK_THROWS_WITH(seconds("all_reduce", "rign", 8, 4), Catch::Contains("ring"));
}

TEST_CASE("copies cost nothing where the network names no bandwidth for them") {
  ClusterDescription cluster = plain_cluster();
  CHECK(copy_seconds(8, cluster) == 0);
  cluster.copy_bandwidth.value = 4;
  CHECK(copy_seconds(8, cluster) == 2);
}

}  // namespace
}  // namespace d5
