// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/network_calibration.hpp"

#include <catch2/catch.hpp>

#include "d5/core/error.hpp"
#include "d5/prediction/simulated_run.hpp"

namespace d5 {
namespace {

std::vector<TimedMessage> line(double latency, double bandwidth) {
  std::vector<TimedMessage> messages;
  for (std::int64_t bytes = 64; bytes <= 1 << 20; bytes *= 4) {
    messages.push_back({bytes, latency + static_cast<double>(bytes) / bandwidth});
  }
  return messages;
}

TEST_CASE("a fit finds the latency and the bandwidth that times were made of") {
  const auto network = fit_network(line(50e-6, 1.25e9), "made", "a line");
  CHECK(network.latency.value == Approx(50e-6));
  CHECK(network.bandwidth.value == Approx(1.25e9));
  CHECK(network.latency.source == "a line");
}

TEST_CASE("times that no network has are refused") {
  const std::vector<TimedMessage> one = {{64, 1e-6}};
  CHECK_THROWS_AS(fit_network(one, "n", "s"), ValueError);
  const std::vector<TimedMessage> falling = {{64, 2e-3}, {1 << 20, 1e-3}};
  CHECK_THROWS_AS(fit_network(falling, "n", "s"), ValueError);
  const std::vector<TimedMessage> still = {{64, 0}, {1 << 20, 1e-3}};
  CHECK_THROWS_AS(fit_network(still, "n", "s"), ValueError);
}

TEST_CASE(
    "a calibration on simulated ranks finds their network, and is right on what it left out") {
  NetworkDescription truth;
  truth.name = "truth";
  truth.hosts = 4;
  truth.latency = {20e-6, "made up"};
  truth.bandwidth = {2e9, "made up"};
  NetworkTimes times;
  (void)run_simulated(2, truth, [&](SimulatedRank& rank, const std::shared_ptr<Communicator>& all) {
    auto mine = time_network(*all, {.least_bytes = 64, .most_bytes = 1 << 18, .repetitions = 2});
    if (rank.rank() == 0) times = std::move(mine);
  });
  const NetworkCalibration found = calibrate_network(times, "found");
  CHECK(found.network.latency.value == Approx(20e-6).epsilon(1e-3));
  CHECK(found.network.bandwidth.value == Approx(2e9).epsilon(1e-3));
  REQUIRE(found.held_out.size() > 4);
  for (const auto& time : found.held_out) {
    INFO(time.what << " of " << time.measured.bytes << " bytes");
    CHECK(std::abs(time.error()) < 0.01);
  }
}

}  // namespace
}  // namespace d5
