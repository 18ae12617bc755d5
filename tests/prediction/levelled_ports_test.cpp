// SPDX-License-Identifier: Apache-2.0
// Clusters with levels, whose times a person can add up.
#include <catch2/catch.hpp>

#include <limits>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/phantom_tensor.hpp"
#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/prediction/networks/simulated_network.hpp"
#include "d5/prediction/simulation/simulated_run.hpp"
#include "d5/prediction/training_graphs/closed_cost.hpp"

namespace d5 {
namespace {

using Ranks = std::shared_ptr<Communicator>;

/// Hosts of 4 ranks, 2 of them below each leaf; 1 GB/s a NIC, 10 GB/s inside.
const std::string kPod = R"(name: pod
hosts: 8
ranks_per_host: 4
topology: levels
latency: {value: 10us, source: s}
bandwidth: {value: 1GB/s, source: s}
host_latency: {value: 1us, source: s}
host_bandwidth: {value: 10GB/s, source: s}
levels:
  - {hosts: 2, oversubscription: 2, latency: 20us, source: s}
)";

ClusterDescription pod(const std::string& more = "") {
  return parse_cluster_description(kPod + more, "pod.yaml");
}

struct Message {
  int from, to;
};
/// Arrivals of messages of 1 MB that start at once, in order.
std::vector<double> arrivals(const ClusterDescription& cluster, const std::vector<Message>& all) {
  const auto network = simulated_networks().at("ports").make(cluster, 32, {});
  for (std::size_t i = 0; i < all.size(); ++i) {
    network->start(
        {.id = std::int64_t(i), .from = all[i].from, .to = all[i].to, .bytes = 1'000'000}, 0);
  }
  std::vector<double> times(all.size());
  std::vector<SimulatedNetwork::Change> changes;
  while (network->advance(std::numeric_limits<double>::infinity(), changes)) {
    for (const auto& change : changes) {
      if (change.what == SimulatedNetwork::What::arrived) {
        times[std::size_t(change.id)] = change.time;
      }
    }
  }
  return times;
}

double all_reduce_seconds(const std::string& algorithm, const ClusterDescription& cluster,
                          int ranks, std::int64_t bytes, int members = 0) {
  return run_simulated(ranks, cluster,
                       [&](SimulatedRank&, const Ranks& all) {
                         Tensor data = phantom_tensor({DType::float32, {bytes / 4}});
                         all_reduces().at(algorithm).make()->start(*all, data)->wait();
                       },
                       {.members = members})
      .seconds;
}

}  // namespace

TEST_CASE("a message alone takes its level's latency and the least bandwidth of its way") {
  const auto one = [](int from, int to) { return arrivals(pod(), {{from, to}}).front(); };
  CHECK(one(0, 1) == Approx(1e-6 + 1e6 / 10e9));
  CHECK(one(0, 4) == Approx(10e-6 + 1e6 / 1e9));
  CHECK(one(0, 8) == Approx(20e-6 + 1e6 / 1e9));
}

TEST_CASE("messages share a host's NICs, and a leaf's uplinks") {
  // Two ranks of a host: one NIC sends one after the other, two send both at once.
  CHECK(arrivals(pod(), {{0, 4}, {1, 5}})[1] == Approx(10e-6 + 2e-3));
  CHECK(arrivals(pod("nics: 4\n"), {{0, 4}, {1, 5}})[1] == Approx(10e-6 + 1e-3));
  // Two hosts of a leaf have one NIC's bandwidth to the others.
  const auto both = arrivals(pod(), {{0, 8}, {4, 12}});
  CHECK(std::max(both[0], both[1]) == Approx(20e-6 + 2e-3).epsilon(0.02));
  CHECK(arrivals(pod(), {{0, 8}})[0] == Approx(20e-6 + 1e-3));
  // With rails NICs of one number have a leaf of their own, and share its uplinks alone.
  const auto rails = arrivals(pod("nics: 4\nrails: true\n"), {{0, 8}, {5, 13}});
  CHECK(std::max(rails[0], rails[1]) == Approx(20e-6 + 1e-3));
  // To another rail the way leads through the level above, in the same pair of hosts too.
  CHECK(arrivals(pod("nics: 4\nrails: true\n"), {{0, 5}})[0] == Approx(20e-6 + 1e-3));
  CHECK(arrivals(pod("nics: 4\nrails: true\n"), {{0, 4}})[0] == Approx(10e-6 + 1e-3));
}

TEST_CASE("links inside a host are ports, pairs, or a ring") {
  const std::vector<Message> both = {{0, 2}, {1, 2}};
  CHECK(arrivals(pod(), both)[1] == Approx(1e-6 + 2e-4));  // one port of rank 2
  CHECK(arrivals(pod("inside: all_to_all\n"), both)[1] == Approx(1e-6 + 1e-4));
  // 0 to 2 goes by 1, a latency each; the link from 1 to 2 is shared.
  const auto ring = arrivals(pod("inside: ring\n"), {{0, 2}});
  CHECK(ring[0] == Approx(2e-6 + 1e-4));
  const auto shared = arrivals(pod("inside: ring\n"), both);
  CHECK(std::max(shared[0], shared[1]) >= 2e-4);
  CHECK(arrivals(pod("inside: ring\n"), {{0, 3}})[0] == Approx(1e-6 + 1e-4));  // backwards
}

TEST_CASE("ranks are dealt out to hosts by node") {
  ClusterDescription cluster = pod("placement: by_node\n");
  CHECK(cluster.node_of(8, 32) == 0);
  CHECK(cluster.node_of(9, 32) == 1);
  CHECK(arrivals(cluster, {{0, 8}})[0] == Approx(1e-6 + 1e6 / 10e9));  // one host
  CHECK(arrivals(cluster, {{0, 1}})[0] == Approx(10e-6 + 1e6 / 1e9));  // its neighbour
}

TEST_CASE("an all-reduce of two levels takes the sum of its rings") {
  // Inside: 2 * 3 rounds of a quarter; between: 2 * 7 rounds of an eighth of it, on a NIC a rank.
  const double bytes = 32e6, inside = 6 * (1e-6 + bytes / 4 / 10e9);
  const auto with = pod("nics: 4\n");
  ClusterDescription even = with;
  even.levels[0] = {.hosts = 2, .oversubscription = 1, .latency = 10e-6, .source = "s"};
  const double between = 14 * (10e-6 + bytes / 4 / 8 / 1e9);
  const double took = all_reduce_seconds("two_level_ring", even, 32, std::int64_t(bytes));
  CHECK(took == Approx(inside + between).epsilon(1e-6));
  CHECK(closed_seconds("all_reduce", {"two_level_ring", bytes, 32}, even) == Approx(took));
  CHECK(all_reduce_seconds("ring", even, 32, std::int64_t(bytes)) > took);
  CHECK(all_reduce_seconds("two_level_ring", even, 32, std::int64_t(bytes), 4) ==
        Approx(took).epsilon(1e-3));
  CHECK_THROWS_AS(all_reduce_seconds("two_level_ring", with, 32, 4096, 4),
                  RanksDiffer);  // half a leaf
  CHECK(all_reduce_seconds("two_level_ring", with, 32, std::int64_t(bytes), 8) ==
        Approx(all_reduce_seconds("two_level_ring", with, 32, std::int64_t(bytes))).epsilon(1e-3));
}

TEST_CASE("a file of levels is read, written and refused with line") {
  ClusterDescription cluster = pod("nics: 2\nrails: true\ninside: ring\nplacement: by_node\n");
  for (int written = 0; written < 2; ++written) {
    REQUIRE(cluster.levels.size() == 1);
    CHECK(cluster.levels[0].hosts == 2);
    CHECK(cluster.levels[0].oversubscription == 2);
    CHECK(cluster.levels[0].latency == 20e-6);
    CHECK(cluster.nics == 2);
    CHECK(cluster.rails);
    CHECK(cluster.inside == "ring");
    CHECK(cluster.placement == "by_node");
    cluster = parse_cluster_description(to_yaml(cluster), "again.yaml");
  }
  const auto [more, says] = GENERATE(table<std::string, std::string>({
      {"nics: 3\n", "3 nics for 4 ranks a host"},
      {"nics: 8\n", "8 nics for 4 ranks a host"},
      {"rails: yes\n", "rails"},
      {"inside: bus\n", "pod.yaml:11: inside"},
      {"placement: by_slots\n", "by_slot"},
      {"  - {hosts: 3, oversubscription: 1, latency: 1us, source: s}\n", "multiple of the 2"},
      {"  - {hosts: 4, oversubscription: 0, latency: 1us, source: s}\n", "oversubscription is 0"},
      {"  - {hosts: 4, oversubscription: nan, latency: 1us, source: s}\n",
       "oversubscription is nan"},
      {"  - {hosts: 4, latency: 1us, source: s}\n", "level 1 is invalid"},
  }));
  CHECK_THROWS_WITH(pod(more), Catch::Contains(says));
  CHECK_THROWS_WITH(parse_cluster_description(kPod.substr(0, kPod.find("levels:\n")), "pod.yaml"),
                    Catch::Contains("topology: levels"));
}

TEST_CASE("carried clusters are read, and have a source for each figure") {
  for (const std::string& name : carried_clusters()) {
    CAPTURE(name);
    const ClusterDescription cluster = load_cluster_description(name);
    CHECK_FALSE(cluster.latency.source.empty());
    CHECK(to_yaml(parse_cluster_description(to_yaml(cluster), name)) == to_yaml(cluster));
  }
  CHECK(load_cluster_description("h100-pod").most_ranks() == 4096);
}

}  // namespace d5
