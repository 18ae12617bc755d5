// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/networks/simulated_network.hpp"

#include <catch2/catch.hpp>

#include <limits>
#include <map>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "tests/prediction/simple_cluster.hpp"

namespace d5 {
namespace {

struct MessageTimes {
  double sent = -1, arrived = -1;
};

/// Send and arrival time of each message.
std::map<std::int64_t, MessageTimes> all_times(SimulatedNetwork& network) {
  std::map<std::int64_t, MessageTimes> times;
  std::vector<SimulatedNetwork::Change> changes;
  double last = 0;
  while (network.advance(std::numeric_limits<double>::infinity(), changes)) {
    for (const auto& [id, what, time] : changes) {
      CHECK(time >= last);
      last = time;
      (what == SimulatedNetwork::What::sent ? times[id].sent : times[id].arrived) = time;
      if (what == SimulatedNetwork::What::arrived) CHECK(times[id].sent >= 0);
    }
  }
  return times;
}

std::shared_ptr<SimulatedNetwork> network_of(const std::string& model,
                                             const ClusterDescription& description, int ranks) {
  return simulated_networks().at(model).make(description, ranks);
}

TEST_CASE("a message alone takes latency + bytes / bandwidth in every network") {
  const std::string model = GENERATE("closed", "ports");
  const auto network = network_of(model, simple_cluster(4), 4);
  network->start({.id = 5, .from = 3, .to = 1, .bytes = 2000}, 1);
  const auto times = all_times(*network);
  CHECK(times.at(5).sent == Approx(1 + 2e-6).epsilon(1e-12));
  CHECK(times.at(5).arrived == Approx(1 + 2e-6 + 50e-6).epsilon(1e-12));
}

TEST_CASE("a message's size decides by which figures it goes") {
  ClusterDescription network = simple_cluster(2);
  network.segments = {{1000, 70e-6, 2e9, "test"}};
  for (const char* name : {"closed", "ports"}) {
    const auto seconds = [&](std::int64_t bytes) {
      SimulationOptions options;
      options.model = {name};
      return run_simulated(
                 2, network,
                 [&](SimulatedRank& rank, const std::shared_ptr<Communicator>& all) {
                   Tensor data = Tensor::zeros(DType::uint8, {bytes});
                   if (rank.rank() == 0) all->send(data, 1);
                   if (rank.rank() == 1) all->receive(data, 0);
                 },
                 options)
          .seconds;
    };
    CHECK(seconds(999) == Approx(50e-6 + 999 / 1e9).epsilon(kTimeRounding));
    CHECK(seconds(1000) == Approx(70e-6 + 1000 / 2e9).epsilon(kTimeRounding));
  }
}

TEST_CASE("closed knows no contention") {
  const auto network = network_of("closed", simple_cluster(3), 3);
  network->start({.id = 0, .from = 0, .to = 2, .bytes = 1000}, 0);
  network->start({.id = 1, .from = 1, .to = 2, .bytes = 1000}, 0);
  network->start({.id = 2, .from = 0, .to = 1, .bytes = 1000}, 0);
  const auto times = all_times(*network);
  CHECK(times.at(0).arrived == times.at(1).arrived);
  CHECK(times.at(2).sent == Approx(2 * times.at(0).sent));  // a rank's own follow each other
}

TEST_CASE("a port passes one message after the other, at the sender and at the receiver") {
  const auto network = network_of("ports", simple_cluster(4), 4);
  const double takes = 1e-3, latency = 50e-6;  // seconds for 1 MB
  SECTION("two of one sender") {
    network->start({.id = 0, .from = 0, .to = 1, .bytes = 1'000'000}, 0);
    network->start({.id = 1, .from = 0, .to = 2, .bytes = 1'000'000}, 0);
    const auto times = all_times(*network);
    CHECK(times.at(0).arrived == Approx(takes + latency));
    CHECK(times.at(1).sent == Approx(2 * takes));
    CHECK(times.at(1).arrived == Approx(2 * takes + latency));
  }
  SECTION("two to one receiver, the later one after the earlier") {
    network->start({.id = 0, .from = 0, .to = 2, .bytes = 1'000'000}, 0);
    network->start({.id = 1, .from = 1, .to = 2, .bytes = 1'000'000}, 0.1 * takes);
    const auto times = all_times(*network);
    CHECK(times.at(0).arrived == Approx(takes + latency));
    CHECK(times.at(1).sent == Approx(1.1 * takes));
    CHECK(times.at(1).arrived == Approx(2 * takes + latency));
  }
  SECTION("both directions at once") {
    network->start({.id = 0, .from = 0, .to = 1, .bytes = 1'000'000}, 0);
    network->start({.id = 1, .from = 1, .to = 0, .bytes = 1'000'000}, 0);
    const auto times = all_times(*network);
    CHECK(times.at(0).arrived == Approx(takes + latency));
    CHECK(times.at(1).arrived == Approx(takes + latency));
  }
}

TEST_CASE("ranks of one host share its port, and talk in memory") {
  ClusterDescription description = simple_cluster(2);
  description.ranks_per_host = 2;
  description.host_latency = {1e-6, "test"};
  description.host_bandwidth = {10e9, "test"};
  const auto network = network_of("ports", description, 4);
  network->start({.id = 0, .from = 0, .to = 2, .bytes = 1'000'000}, 0);
  network->start({.id = 1, .from = 1, .to = 3, .bytes = 1'000'000}, 0);
  network->start({.id = 2, .from = 0, .to = 1, .bytes = 1'000'000}, 0);
  const auto times = all_times(*network);
  CHECK(times.at(0).arrived == Approx(1e-3 + 50e-6));
  CHECK(times.at(1).arrived == Approx(2e-3 + 50e-6));
  CHECK(times.at(2).arrived == Approx(1e-4 + 1e-6));
}

TEST_CASE("a network goes no further than it is asked to") {
  const auto network = network_of(GENERATE("closed", "ports"), simple_cluster(2), 2);
  network->start({.id = 0, .from = 0, .to = 1, .bytes = 1'000'000}, 0);
  std::vector<SimulatedNetwork::Change> changes;
  CHECK_FALSE(network->advance(0.9e-3, changes));
  CHECK(network->advance(1.01e-3, changes));  // sent
  CHECK_FALSE(network->advance(1.01e-3, changes));
  network->start({.id = 1, .from = 1, .to = 0, .bytes = 0}, 1.01e-3);
  CHECK(network->advance(2e-3, changes));
}

TEST_CASE("more ranks than a network has places for are refused") {
  CHECK_THROWS_AS(network_of("closed", simple_cluster(2), 3), ValueError);
  CHECK_THROWS_AS(network_of("ports", simple_cluster(2), 0), ValueError);
}

}  // namespace
}  // namespace d5
