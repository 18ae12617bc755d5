// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/calibration/cluster_calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "d5/core/clocks/clock.hpp"
#include "d5/core/results/results.hpp"
#include "d5/core/tensor/phantom_tensor.hpp"
#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/prediction/simulation/simulated_run.hpp"

namespace d5 {
namespace {

/// The slowest rank's result of `work`, simulated on as many ranks as were measured. Units: s.
double simulated_seconds(
    const ClusterDescription& cluster, const ClusterTimes& times,
    const std::function<double(const std::shared_ptr<Communicator>& all)>& work) {
  double slowest = 0;
  SimulationOptions options;
  options.rates = times.rates;
  (void)run_simulated(
      times.ranks, cluster,
      [&](SimulatedRank&, const std::shared_ptr<Communicator>& all) {
        slowest = std::max(slowest, work(all));
      },
      options);
  return slowest;
}

double simulated_all_reduce(const ClusterDescription& cluster, const ClusterTimes& times,
                            const std::string& algorithm, std::int64_t bytes) {
  return simulated_seconds(cluster, times, [&](const std::shared_ptr<Communicator>& all) {
    const auto one = all_reduces().at(algorithm).make();
    Tensor data = phantom_tensor({DType::float32, {bytes / 4}});
    one->prepare(*all);
    all->barrier();
    const double begin = now_seconds();
    one->start(*all, data)->wait();
    return now_seconds() - begin;
  });
}

double simulated_shift(const ClusterDescription& cluster, const ClusterTimes& times,
                       std::int64_t bytes) {
  return simulated_seconds(cluster, times, [&](const std::shared_ptr<Communicator>& all) {
    const int n = all->size();
    Tensor data = phantom_tensor({DType::float32, {bytes / 4}});
    const double begin = now_seconds();
    const auto received = all->start_receive(data, (all->rank() + n - 1) % n);
    all->send(data, (all->rank() + 1) % n);
    received->wait();
    return now_seconds() - begin;
  });
}

double simulated_message(const ClusterDescription& cluster, std::int64_t bytes) {
  double seconds = 0;
  (void)run_simulated(2, cluster,
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

/// CPU overhead per message (LogGP's o), which is not part of the latency. Capped by the time of a
/// short message: measured next to computation it comes out too high, because caches are cold.
void set_ends(ClusterDescription& cluster, const ClusterTimes& times) {
  const auto [measured, seconds_a_byte] = fit_message_ends(times.ends);
  const double seconds = std::min(measured, cluster.latency.value / 2);
  const std::string source =
      fmt::format("of messages of {} to {} bytes, {} ranks that compute meanwhile, {}",
                  times.ends.front().bytes, times.ends.back().bytes, times.ranks, times.medium);
  cluster.overhead = {seconds, source};
  cluster.look = {times.look, fmt::format("unsuccessful polls, {} ranks at once, {}", times.ranks,
                                          times.medium)};
  if (seconds_a_byte > 0) cluster.end_bandwidth = {1 / seconds_a_byte, source};
  const auto without_ends = [&](double latency) { return std::max(0.0, latency - 2 * seconds); };
  cluster.latency.value = without_ends(cluster.latency.value);
  for (ClusterSegment& segment : cluster.segments) {
    segment.latency = without_ends(segment.latency);
  }
}

/// Sets `medium_share`, the contention between concurrent messages: fitted to the largest shift,
/// given all other figures. Not set without contention.
void set_medium(ClusterDescription& cluster, const ClusterTimes& times) {
  constexpr double kSmallest = 1.02;  // less than this is within the noise
  if (times.shifts.empty()) return;
  const TimedMessage& shift = times.shifts.back();
  const double passes = static_cast<double>(shift.bytes) /
                        cluster.segment_of(static_cast<double>(shift.bytes)).bandwidth;
  const double longer = shift.seconds - simulated_shift(cluster, times, shift.bytes);
  const double factor = 1 + longer / passes;
  if (factor < kSmallest) return;
  cluster.medium_share = {factor / times.ranks,
                          fmt::format("{} ranks that send {} bytes each at once, {}", times.ranks,
                                      shift.bytes, times.medium)};
}

/// Describes ranks that share memory as one machine with as many ranks as were measured.
void set_memory(ClusterDescription& cluster, const ClusterTimes& times) {
  if (!(times.signal > 0)) return;
  cluster.topology = "memory";
  cluster.hosts = times.ranks;
  cluster.signal = {times.signal, "half a round trip between ranks 0 and 1 in shared memory"};
}

/// Sets `spread` from the error of the fit at held-out sizes.
void set_spread(ClusterCalibration& calibration) {
  double squares = 0;
  for (const HeldOutTime& time : calibration.held_out) squares += time.error() * time.error();
  const auto count = calibration.held_out.size();
  if (count == 0) return;
  calibration.cluster.spread = {std::sqrt(squares / static_cast<double>(count)),
                                fmt::format("root mean square error of {} held-out times", count)};
}

}  // namespace

ClusterCalibration calibrate_cluster(const ClusterTimes& times, const std::string& name) {
  std::vector<TimedMessage> fitted, others;
  for (std::size_t i = 0; i < times.messages.size(); ++i) {
    (i % 2 == 0 ? fitted : others).push_back(times.messages[i]);
  }
  const std::string source =
      fitted.empty() ? ""
                     : fmt::format("fitted to messages of {} to {} bytes, {}", fitted.front().bytes,
                                   fitted.back().bytes, times.medium);
  ClusterCalibration calibration{.cluster = fit_segments(fitted, name, source)};
  ClusterDescription& cluster = calibration.cluster;
  cluster.calibrated_bytes = {static_cast<double>(fitted.back().bytes), source};
  set_ends(cluster, times);
  set_memory(cluster, times);
  set_medium(cluster, times);
  for (const TimedMessage& message : others) {
    calibration.held_out.push_back(
        {"message", 2, message, simulated_message(cluster, message.bytes)});
  }
  for (std::size_t i = 0; i + 1 < times.shifts.size(); ++i) {
    const TimedMessage& shift = times.shifts[i];
    calibration.held_out.push_back({"messages of all at once", times.ranks, shift,
                                    simulated_shift(cluster, times, shift.bytes)});
  }
  const auto hold_against = [&](const std::string& algorithm,
                                const std::vector<TimedMessage>& sums) {
    for (const TimedMessage& sum : sums) {
      calibration.held_out.push_back({"all-reduce " + algorithm, times.ranks, sum,
                                      simulated_all_reduce(cluster, times, algorithm, sum.bytes)});
    }
  };
  hold_against("ring", times.all_reduces);
  hold_against("node_memory", times.in_memory);
  set_spread(calibration);
  return calibration;
}

TextTable calibration_table(const ClusterCalibration& calibration) {
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
