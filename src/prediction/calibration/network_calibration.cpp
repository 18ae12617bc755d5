// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/network_calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "d5/core/phantom_tensor.hpp"
#include "d5/core/results.hpp"
#include "d5/level3_distributed/collective.hpp"
#include "d5/prediction/simulated_run.hpp"

namespace d5 {
namespace {

double simulated_all_reduce(const NetworkDescription& network, const NetworkTimes& times,
                            std::int64_t bytes) {
  double seconds = 0;
  SimulationOptions options;
  options.rates = times.rates;
  (void)run_simulated(
      times.ranks, network,
      [&](SimulatedRank& rank, const std::shared_ptr<Communicator>& all) {
        Tensor data = phantom_tensor({DType::float32, {bytes / 4}});
        const double begin = rank.now();
        all_reduces().at("ring").make()->start(*all, data)->wait();
        seconds = std::max(seconds, rank.now() - begin);
      },
      options);
  return seconds;
}

double simulated_message(const NetworkDescription& network, std::int64_t bytes) {
  double seconds = 0;
  (void)run_simulated(2, network,
                      [&](SimulatedRank& rank, const std::shared_ptr<Communicator>& all) {
                        Tensor data = phantom_tensor({DType::float32, {bytes / 4}});
                        if (rank.rank() == 0) {
                          all->send(data, 1);
                        } else {
                          all->receive(data, 0);
                          seconds = rank.now();
                        }
                      });
  return seconds;
}

/// What a message costs its ends is no latency, and no more than a short message takes: beside
/// computing it may, for what it needs has left the cache.
void set_ends(NetworkDescription& network, const NetworkTimes& times) {
  const auto [measured, seconds_a_byte] = fit_message_ends(times.ends);
  const double seconds = std::min(measured, network.latency.value / 2);
  const std::string source =
      fmt::format("of messages of {} to {} bytes, {} ranks that compute meanwhile, {}",
                  times.ends.front().bytes, times.ends.back().bytes, times.ranks, times.medium);
  network.overhead = {seconds, source};
  network.look = {times.look,
                  fmt::format("asking in vain, {} ranks at once, {}", times.ranks, times.medium)};
  if (seconds_a_byte > 0) network.end_bandwidth = {1 / seconds_a_byte, source};
  const auto without_ends = [&](double latency) { return std::max(0.0, latency - 2 * seconds); };
  network.latency.value = without_ends(network.latency.value);
  for (NetworkSegment& segment : network.segments) {
    segment.latency = without_ends(segment.latency);
  }
}

/// How far off the fit is where it was not fitted.
void set_spread(NetworkCalibration& calibration) {
  double squares = 0;
  for (const HeldOutTime& time : calibration.held_out) squares += time.error() * time.error();
  const auto count = calibration.held_out.size();
  if (count == 0) return;
  calibration.network.spread = {
      std::sqrt(squares / static_cast<double>(count)),
      fmt::format("root mean square error of {} times that were held out", count)};
}

}  // namespace

NetworkCalibration calibrate_network(const NetworkTimes& times, const std::string& name) {
  std::vector<TimedMessage> fitted, others;
  for (std::size_t i = 0; i < times.messages.size(); ++i) {
    (i % 2 == 0 ? fitted : others).push_back(times.messages[i]);
  }
  const std::string source =
      fitted.empty() ? ""
                     : fmt::format("fitted to messages of {} to {} bytes, {}", fitted.front().bytes,
                                   fitted.back().bytes, times.medium);
  NetworkCalibration calibration{.network = fit_segments(fitted, name, source)};
  NetworkDescription& network = calibration.network;
  network.calibrated_bytes = {static_cast<double>(fitted.back().bytes), source};
  set_ends(network, times);
  for (const TimedMessage& message : others) {
    calibration.held_out.push_back(
        {"message", 2, message, simulated_message(network, message.bytes)});
  }
  for (const TimedMessage& sum : times.all_reduces) {
    calibration.held_out.push_back(
        {"all-reduce ring", times.ranks, sum, simulated_all_reduce(network, times, sum.bytes)});
  }
  set_spread(calibration);
  return calibration;
}

TextTable calibration_table(const NetworkCalibration& calibration) {
  using enum TextTable::Align;
  TextTable table({"held out",
                   {"ranks", right},
                   {"bytes", right},
                   {"measured", right},
                   {"predicted", right},
                   {"error", right}});
  for (const HeldOutTime& time : calibration.held_out) {
    table.add({time.what, std::to_string(time.ranks), std::to_string(time.measured.bytes),
               with_prefix(time.measured.seconds, "s"), with_prefix(time.predicted, "s"),
               fmt::format("{:+.1f}%", 100 * time.error())});
  }
  return table;
}

}  // namespace d5
