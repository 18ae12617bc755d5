// SPDX-License-Identifier: Apache-2.0
// Compares messages over SimGrid with times computed by hand.
#include <signal.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/phantom_tensor.hpp"
#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/prediction/networks/simulated_network.hpp"
#include "d5/prediction/simulation/simulated_run.hpp"
#include "tests/prediction/simple_cluster.hpp"

namespace d5 {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();
constexpr double kMegabyte = 1e6 / kSimpleBandwidth;  // s that 1 MB takes alone

ClusterDescription network_of(const std::string& topology, const Settings& options, int hosts) {
  ClusterDescription network = simple_cluster(hosts);
  network.topology = topology;
  network.topology_options = options;
  return network;
}

std::shared_ptr<SimulatedNetwork> flows(const ClusterDescription& network, int ranks) {
  return find_simulated_network("simgrid").make(network, ranks);
}

/// Arrival time of each message, in a network without other traffic.
std::map<std::int64_t, double> arrivals(SimulatedNetwork& network) {
  std::map<std::int64_t, double> times;
  std::vector<SimulatedNetwork::Change> changes;
  double last = 0;
  while (network.advance(kUnlimited, changes)) {
    for (const auto& [id, what, time] : changes) {
      CHECK(time >= last);
      last = time;
      if (what == SimulatedNetwork::What::arrived) times[id] = time;
    }
  }
  return times;
}

/// Links between two ranks on two hosts: the time of an empty message relative to that of one link.
int links(const ClusterDescription& description, int from, int to, int longest) {
  const auto network = flows(description, static_cast<int>(description.hosts));
  network->start({.id = 0, .from = from, .to = to, .bytes = 0}, 0);
  const double count = arrivals(*network).at(0) / (kSimpleLatency / longest);
  CHECK(count == Approx(std::round(count)).epsilon(1e-9));
  return static_cast<int>(std::lround(count));
}

TEST_CASE("a message alone takes latency + bytes / bandwidth") {
  const auto network = flows(simple_cluster(4), 4);
  network->start({.id = 5, .from = 3, .to = 1, .bytes = 2000}, 1);
  CHECK(arrivals(*network).at(5) == Approx(1 + 2e-6 + 50e-6).epsilon(1e-12));
}

TEST_CASE("two flows through one link have half of it each") {
  const auto network = flows(simple_cluster(4), 4);
  SECTION("to one receiver") {
    network->start({.id = 0, .from = 0, .to = 2, .bytes = 1'000'000}, 0);
    network->start({.id = 1, .from = 1, .to = 2, .bytes = 1'000'000}, 0);
    const auto times = arrivals(*network);
    CHECK(times.at(0) == Approx(2 * kMegabyte + kSimpleLatency));
    CHECK(times.at(1) == Approx(2 * kMegabyte + kSimpleLatency));
  }
  SECTION("of one sender, the later one with what is left when the first has gone") {
    network->start({.id = 0, .from = 0, .to = 1, .bytes = 1'000'000}, 0);
    network->start({.id = 1, .from = 0, .to = 2, .bytes = 1'000'000}, 0.1 * kMegabyte);
    const auto times = arrivals(*network);
    CHECK(times.at(0) == Approx(1.9 * kMegabyte + kSimpleLatency));
    CHECK(times.at(1) == Approx(2 * kMegabyte + kSimpleLatency));
  }
  SECTION("but both directions of one do not share") {
    network->start({.id = 0, .from = 0, .to = 1, .bytes = 1'000'000}, 0);
    network->start({.id = 1, .from = 1, .to = 0, .bytes = 1'000'000}, 0);
    for (const auto& [id, time] : arrivals(*network)) {
      CHECK(time == Approx(kMegabyte + kSimpleLatency));
    }
  }
}

TEST_CASE("a ring all-reduce of 100 MB takes 2(n - 1)/n S/B + 2(n - 1) L where no link is shared") {
  const int n = GENERATE(2, 3, 8, 64, 256);
  SimulationOptions options;
  options.model = {"simgrid"};
  const auto reduce = [](SimulatedRank&, const std::shared_ptr<Communicator>& ranks) {
    Tensor data = phantom_tensor({DType::float32, {25'000'000}});
    all_reduces().at("ring").make()->start(*ranks, data)->wait();
  };
  const double steps = 2.0 * (n - 1);
  const double expected = steps / n * 1e8 / kSimpleBandwidth + steps * kSimpleLatency;
  // Parts differ by one element if n does not divide evenly.
  CHECK(run_simulated(n, simple_cluster(n), reduce, options).seconds ==
        Approx(expected).epsilon(1e-4));
}

TEST_CASE("ranks of one host share its link, and talk beside it") {
  ClusterDescription description = simple_cluster(2);
  description.ranks_per_host = 2;
  description.host_latency = {1e-6, "test"};
  description.host_bandwidth = {10e9, "test"};
  const auto network = flows(description, 4);
  network->start({.id = 0, .from = 0, .to = 2, .bytes = 1'000'000}, 0);
  network->start({.id = 1, .from = 1, .to = 3, .bytes = 1'000'000}, 0);
  network->start({.id = 2, .from = 0, .to = 1, .bytes = 1'000'000}, 0);
  const auto times = arrivals(*network);
  CHECK(times.at(0) == Approx(2 * kMegabyte + kSimpleLatency));
  CHECK(times.at(1) == Approx(2 * kMegabyte + kSimpleLatency));
  CHECK(times.at(2) == Approx(1e-4 + 1e-6));
}

TEST_CASE("a fat tree is climbed as far as two hosts need, and thin above") {
  // Two levels: 4 switches of 4 hosts, with one or two links up.
  const auto tree = [](const char* up) {
    return network_of("fat_tree", {{"down", "4,4"}, {"up", up}, {"count", "1,1"}}, 16);
  };
  CHECK(links(tree("1,1"), 0, 3, 4) == 2);
  CHECK(links(tree("1,1"), 0, 4, 4) == 4);
  CHECK(links(tree("1,2"), 15, 0, 4) == 4);
  const bool wide = GENERATE(false, true);
  const auto network = flows(tree(wide ? "1,2" : "1,1"), 16);
  network->start({.id = 0, .from = 0, .to = 4, .bytes = 1'000'000}, 0);
  network->start({.id = 1, .from = 1, .to = 9, .bytes = 1'000'000}, 0);
  // With D-mod-k routing the two use different uplinks, if there are two.
  for (const auto& [id, time] : arrivals(*network)) {
    CHECK(time == Approx((wide ? 1 : 2) * kMegabyte + kSimpleLatency));
  }
}

TEST_CASE("a torus goes the shorter way round in each dimension") {
  const int sizes[] = {5, 4, 3}, longest = 5;
  const auto torus = network_of("torus", {{"dimensions", "5,4,3"}}, 60);
  const int to = GENERATE(1, 2, 3, 4, 5, 10, 15, 20, 32, 33, 40, 59);
  int expected = 0;
  for (int rest = to; const int size : sizes) {
    expected += std::min(rest % size, size - rest % size);
    rest /= size;
  }
  CHECK(links(torus, 0, to, longest) == expected);
}

TEST_CASE("a dragonfly's longest way is router, chassis, group, router, chassis") {
  // 4 groups of 2 chassis of 4 routers of 2 hosts: a chassis has 8, a group 16.
  const auto dragonfly = network_of(
      "dragonfly", {{"groups", "4,1"}, {"chassis", "2,1"}, {"routers", "4,1"}, {"nodes", "2"}}, 64);
  CHECK(links(dragonfly, 0, 1, 7) == 2);   // within one router
  CHECK(links(dragonfly, 0, 2, 7) == 3);   // another router of the chassis
  CHECK(links(dragonfly, 0, 8, 7) == 3);   // the same router of the other chassis
  CHECK(links(dragonfly, 0, 10, 7) == 4);  // another router of the other chassis
  CHECK(links(dragonfly, 2, 16, 7) == 3);  // router 1 of group 0 is joined to router 0 of group 1
  CHECK(links(dragonfly, 8, 26, 7) == 7);  // all of it
}

TEST_CASE("a network goes no further than it is asked to, and takes messages then") {
  const auto network = flows(simple_cluster(2), 2);
  network->start({.id = 0, .from = 0, .to = 1, .bytes = 1'000'000}, 0);
  std::vector<SimulatedNetwork::Change> changes;
  CHECK_FALSE(network->advance(1.02e-3, changes));
  network->start({.id = 1, .from = 1, .to = 0, .bytes = 0}, 1.02e-3);
  CHECK_FALSE(network->advance(1.04e-3, changes));
  REQUIRE(network->advance(2e-3, changes));
  CHECK(changes.front().id == 0);
  CHECK(changes.front().time == Approx(1.05e-3));
  REQUIRE(network->advance(2e-3, changes));
  CHECK(changes.front().id == 1);
  CHECK(changes.front().time == Approx(1.07e-3));
  CHECK_FALSE(network->advance(kUnlimited, changes));
}

TEST_CASE("several live side by side") {
  const auto one = flows(simple_cluster(2), 2), two = flows(simple_cluster(3), 3);
  two->start({.id = 0, .from = 0, .to = 2, .bytes = 2'000'000}, 0);
  one->start({.id = 0, .from = 0, .to = 1, .bytes = 1'000'000}, 0);
  CHECK(arrivals(*one).at(0) == Approx(kMegabyte + kSimpleLatency));
  CHECK(arrivals(*two).at(0) == Approx(2 * kMegabyte + kSimpleLatency));
}

TEST_CASE("what is no topology is said") {
  const auto [topology, options, says] = GENERATE(table<std::string, Settings, std::string>({
      {"tore", {}, "torus"},
      {"star", {{"dimensions", "2"}}, "dimensions"},
      {"torus", {}, "0 numbers in 'dimensions'; expected one or more"},
      {"torus", {{"dimensions", "2,1.5"}}, "1.5 in 'dimensions'"},
      {"torus", {{"dimensions", "2,2"}}, "4 hosts, and 'hosts' says 8"},
      {"torus", {{"dimensions", "1e5,1e5"}}, "there can be 1000000"},
      {"fat_tree", {{"down", "2,4"}, {"up", "1"}, {"count", "1,1"}}, "expected 2"},
      {"dragonfly",
       {{"groups", "4,1"}, {"chassis", "1,1"}, {"routers", "2,1"}, {"nodes", 1}},
       "4 groups and 2 routers"},
  }));
  CHECK_THROWS_WITH(flows(network_of(topology, options, 8), 2), Catch::Contains(says));
}

TEST_CASE("more ranks than a network has places for are refused") {
  CHECK_THROWS_AS(flows(simple_cluster(2), 3), ValueError);
  CHECK_THROWS_AS(flows(simple_cluster(2), 0), ValueError);
}

TEST_CASE("if SimGrid ends its process, this one goes on and says so") {
  const auto network = flows(simple_cluster(2), 2);
  network->start({.id = 0, .from = 0, .to = 1, .bytes = 0}, 0);
  pid_t process = 0;
  std::ifstream("/proc/self/task/" + std::to_string(getpid()) + "/children") >> process;
  REQUIRE(process > 0);
  REQUIRE(kill(process, SIGABRT) == 0);
  std::vector<SimulatedNetwork::Change> changes;
  CHECK_THROWS_WITH(network->advance(kUnlimited, changes),
                    Catch::Contains("SimGrid ended (SIGABRT)"));
}

}  // namespace
}  // namespace d5
