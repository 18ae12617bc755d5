// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/calibration/cluster_calibration.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>

#include "d5/core/errors/error.hpp"
#include "d5/prediction/simulation/simulated_run.hpp"

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
  const auto cluster = fit_cluster(line(50e-6, 1.25e9), "made", "a line");
  CHECK(cluster.latency.value == Approx(50e-6));
  CHECK(cluster.bandwidth.value == Approx(1.25e9));
  CHECK(cluster.latency.source == "a line");
}

TEST_CASE("times that no network has are refused") {
  const std::vector<TimedMessage> one = {{64, 1e-6}};
  CHECK_THROWS_AS(fit_cluster(one, "n", "s"), ValueError);
  const std::vector<TimedMessage> falling = {{64, 2e-3}, {1 << 20, 1e-3}};
  CHECK_THROWS_AS(fit_cluster(falling, "n", "s"), ValueError);
  const std::vector<TimedMessage> still = {{64, 0}, {1 << 20, 1e-3}};
  CHECK_THROWS_AS(fit_cluster(still, "n", "s"), ValueError);
}

TEST_CASE("a knee between two protocols is found, and no line is added for nothing") {
  std::vector<TimedMessage> messages;
  for (std::int64_t bytes = 64; bytes <= 1 << 20; bytes *= 2) {
    const double size = static_cast<double>(bytes);
    messages.push_back({bytes, bytes < 4096 ? 1e-6 + size / 4e9 : 8e-6 + size / 6e9});
  }
  const auto cluster = fit_segments(messages, "made", "two lines");
  CHECK(cluster.latency.value == Approx(1e-6));
  CHECK(cluster.bandwidth.value == Approx(4e9));
  REQUIRE(cluster.segments.size() == 1);
  CHECK(cluster.segments[0].bytes == 4096);
  CHECK(cluster.segments[0].latency == Approx(8e-6));
  CHECK(cluster.segments[0].bandwidth == Approx(6e9));
  CHECK(fit_segments(line(50e-6, 1.25e9), "made", "a line").segments.empty());
}

TEST_CASE("an end costs its shortest message, and bytes what is more") {
  const std::vector<TimedMessage> ends = {{0, 2e-6}, {1000, 3e-6}, {1'000'000, 1002e-6}};
  const auto [seconds, seconds_a_byte] = fit_message_ends(ends);
  CHECK(seconds == 2e-6);
  CHECK(seconds_a_byte == Approx(1e-9));
  CHECK(fit_message_ends(std::vector<TimedMessage>{{64, 2e-6}, {1024, 1e-6}}).seconds_a_byte == 0);
}

TEST_CASE("sizes that other work disturbed do not move a fit") {
  // 200 us and 1 GB/s, each time off by 5%, and of 19 sizes two took twenty times as long.
  std::mt19937 random(7);
  std::normal_distribution<double> noise(0, 0.05);
  std::uniform_int_distribution<std::size_t> anywhere(0, 18);
  for (int round = 0; round < 20; ++round) {
    std::vector<TimedMessage> messages;
    for (std::int64_t bytes = 64; bytes <= 16 << 20; bytes *= 2) {
      const double seconds = 200e-6 + static_cast<double>(bytes) / 1e9;
      messages.push_back({bytes, seconds * std::exp(noise(random))});
    }
    const std::size_t one = anywhere(random);
    messages[one].seconds *= 20;
    messages[(one + 9) % 19].seconds *= 20;
    CAPTURE(round, one);
    const auto cluster = fit_segments(messages, "made", "noise");
    CHECK(cluster.latency.value == Approx(200e-6).epsilon(0.2));
    CHECK(cluster.segment_of(1 << 24).bandwidth == Approx(1e9).epsilon(0.25));
  }
}

TEST_CASE("a disturbed end is no message's cost, and takes no latency away") {
  const std::vector<TimedMessage> ends = {
      {64, 3e-6}, {64 << 10, 11e-6}, {512 << 10, 68e-6}, {4 << 20, 527e-6}};
  for (std::size_t disturbed = 0; disturbed < ends.size(); ++disturbed) {
    std::vector<TimedMessage> measured = ends;
    measured[disturbed].seconds *= 20;
    CAPTURE(disturbed);
    const auto [seconds, seconds_a_byte] = fit_message_ends(measured);
    CHECK(seconds == Approx(3e-6).epsilon(0.1));
    CHECK(seconds_a_byte == Approx(1.25e-10).epsilon(0.05));
  }
  // Nothing was found at the shortest: it costs nothing.
  CHECK(fit_message_ends(std::vector<TimedMessage>{{64, 0}, {65536, 11e-6}}).seconds == 0);
}

TEST_CASE(
    "a calibration on simulated ranks finds their network, and is right on what it left out") {
  ClusterDescription truth;
  truth.name = "truth";
  truth.hosts = 4;
  truth.latency = {20e-6, "made up"};
  truth.bandwidth = {2e9, "made up"};
  truth.overhead = {3e-6, "made up"};
  truth.end_bandwidth = {8e9, "made up"};
  truth.look = {2e-6, "made up"};
  SimulationOptions rates;
  rates.rates = {.reduce_bandwidth = 4e9, .scale_bandwidth = 5e9, .copy_bandwidth = 6e9};
  ClusterTimes times;
  (void)run_simulated(
      2, truth,
      [&](SimulatedRank& rank, const std::shared_ptr<Communicator>& all) {
        CalibrationOptions options{.most_bytes = 1 << 18, .repetitions = 2};
        options.ends = {.repetitions = 2, .compute = [&] { rank.spend(1e-4); }};
        options.rates = {.bytes = 1 << 10, .arena = 1 << 12, .repetitions = 2};
        auto mine = time_cluster(*all, options);
        if (rank.rank() == 0) times = std::move(mine);
      },
      rates);
  CHECK(times.rates.reduce_bandwidth == Approx(4e9));
  CHECK(times.rates.scale_bandwidth == Approx(5e9));
  CHECK(times.rates.copy_bandwidth == Approx(6e9));
  const ClusterCalibration found = calibrate_cluster(times, "found");
  CHECK(found.cluster.segments.empty());
  CHECK(found.cluster.calibrated_bytes.value == 1 << 18);
  // The shortest of messages has some bytes, too.
  CHECK(found.cluster.overhead.value == Approx(3e-6).epsilon(0.01));
  CHECK(found.cluster.look.value == Approx(2e-6));
  CHECK(found.cluster.end_bandwidth.value == Approx(8e9).epsilon(0.01));
  CHECK(found.cluster.latency.value == Approx(20e-6).epsilon(0.01));
  CHECK(found.cluster.bandwidth.value == Approx(2e9).epsilon(1e-3));
  REQUIRE(found.held_out.size() > 4);
  for (const auto& time : found.held_out) {
    INFO(time.what << " of " << time.measured.bytes << " bytes");
    CHECK(std::abs(time.error()) < 0.01);
  }
  CHECK(found.cluster.spread.value < 0.01);
}

TEST_CASE("a calibration on ranks of one machine finds what they take from each other") {
  ClusterDescription truth;
  truth.name = "truth";
  truth.hosts = 2;
  truth.topology = "memory";
  truth.latency = {2e-6, "made up"};
  truth.bandwidth = {2e9, "made up"};
  truth.medium_share = {0.75, "made up"};
  truth.signal = {100e-9, "made up"};
  SimulationOptions rates;
  rates.rates = {.reduce_bandwidth = 4e9,
                 .scale_bandwidth = 5e9,
                 .copy_bandwidth = 6e9,
                 .shared_bandwidth = 3e9,
                 .shared_reduce_bandwidth = 2e9,
                 .ranks = 2,
                 .alone = 1.5};
  ClusterTimes times;
  (void)run_simulated(
      2, truth,
      [&](SimulatedRank& rank, const std::shared_ptr<Communicator>& all) {
        CalibrationOptions options{.most_bytes = 1 << 18, .repetitions = 2};
        options.ends = {.repetitions = 2, .compute = [&] { rank.spend(1e-4); }};
        // The clock ticks in nanoseconds.
        options.rates = {.bytes = 1 << 14, .arena = 1 << 16, .repetitions = 2};
        auto mine = time_cluster(*all, options);
        if (rank.rank() == 0) times = std::move(mine);
      },
      rates);
  CHECK(times.rates.reduce_bandwidth == Approx(4e9).epsilon(0.01));
  CHECK(times.rates.alone == Approx(1.5).epsilon(0.01));
  CHECK(times.rates.ranks == 2);
  CHECK(times.rates.shared_bandwidth == Approx(3e9).epsilon(0.01));
  CHECK(times.rates.shared_reduce_bandwidth == Approx(2e9).epsilon(0.01));
  const ClusterCalibration found = calibrate_cluster(times, "found");
  CHECK(found.cluster.topology == "memory");
  CHECK(found.cluster.most_ranks() == 2);
  CHECK(found.cluster.signal.value == Approx(100e-9));
  CHECK(found.cluster.bandwidth.value == Approx(2e9).epsilon(1e-3));
  CHECK(found.cluster.medium_share.value == Approx(0.75).epsilon(1e-3));
  int in_memory = 0;
  for (const auto& time : found.held_out) {
    INFO(time.what << " of " << time.measured.bytes << " bytes");
    in_memory += time.what == "all-reduce node_memory" ? 1 : 0;
    CHECK(std::abs(time.error()) < 0.01);
  }
  CHECK(in_memory > 2);
}

}  // namespace
}  // namespace d5
