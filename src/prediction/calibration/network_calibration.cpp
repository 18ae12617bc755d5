// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/network_calibration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "d5/core/clock.hpp"
#include "d5/core/error.hpp"
#include "d5/core/results.hpp"
#include "d5/core/statistics.hpp"
#include "d5/level3_distributed/collective.hpp"
#include "d5/prediction/simulated_run.hpp"

namespace d5 {
namespace {

constexpr int kWarmUp = 5;

Tensor floats_of(std::int64_t bytes) {
  if (bytes < 4 || bytes % 4 != 0) {
    throw ValueError(
        fmt::format("calibration: a message of {} bytes; expected a multiple of 4", bytes));
  }
  return Tensor::zeros(DType::float32, {bytes / 4});
}

void expect_partners(const Communicator& ranks, int repetitions) {
  if (ranks.size() < 2) {
    throw ValueError("calibration: one rank has nobody to talk to; start it by mpirun -np 2");
  }
  if (repetitions < 1) {
    throw ValueError(fmt::format("calibration: {} repetitions; expected 1 or more", repetitions));
  }
}

/// The median on the slowest rank, the same on each.
double slowest_median(Communicator& ranks, const std::vector<double>& seconds) {
  double median = seconds.empty() ? 0 : summarise(seconds).median;
  Tensor slowest = Tensor::borrow({DType::float64, {1}}, &median, nullptr);
  ranks.all_reduce(slowest, Reduction::maximum);
  return median;
}

/// There and back.
double round_trip(Communicator& ranks, Tensor& data) {
  const double begin = now_seconds();
  if (ranks.rank() == 0) {
    ranks.send(data, 1);
    ranks.receive(data, 1);
  } else {
    ranks.receive(data, 0);
    ranks.send(data, 0);
  }
  return now_seconds() - begin;
}

double simulated_all_reduce(const NetworkDescription& network, int ranks, std::int64_t bytes) {
  double seconds = 0;
  (void)run_simulated(ranks, network,
                      [&](SimulatedRank& rank, const std::shared_ptr<Communicator>& all) {
                        Tensor data = floats_of(bytes);
                        const double begin = rank.now();
                        all_reduces().at("ring").make()->start(*all, data)->wait();
                        seconds = std::max(seconds, rank.now() - begin);
                      });
  return seconds;
}

/// Powers of two.
std::vector<std::int64_t> sizes_between(const CalibrationOptions& options) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t bytes = options.least_bytes; bytes <= options.most_bytes; bytes *= 2) {
    sizes.push_back(bytes);
  }
  if (options.least_bytes >= 4 && sizes.size() >= 4) return sizes;
  throw ValueError(
      fmt::format("calibration: messages of {} to {} bytes; expected 4 or more, and "
                  "four sizes at least, each twice the one before",
                  options.least_bytes, options.most_bytes));
}

}  // namespace

std::vector<TimedMessage> time_messages(Communicator& ranks, std::span<const std::int64_t> sizes,
                                        int repetitions) {
  expect_partners(ranks, repetitions);
  std::vector<TimedMessage> times;
  for (const std::int64_t bytes : sizes) {
    Tensor data = floats_of(bytes);
    std::vector<double> seconds;
    ranks.barrier();
    for (int i = -kWarmUp; ranks.rank() < 2 && i < repetitions; ++i) {
      const double both = round_trip(ranks, data);
      if (i >= 0) seconds.push_back(both / 2);
    }
    times.push_back({bytes, slowest_median(ranks, seconds)});
  }
  return times;
}

std::vector<TimedMessage> time_all_reduces(Communicator& ranks, const std::string& algorithm,
                                           std::span<const std::int64_t> sizes, int repetitions) {
  expect_partners(ranks, repetitions);
  const auto all_reduce = all_reduces().at(algorithm).make();
  std::vector<TimedMessage> times;
  for (const std::int64_t bytes : sizes) {
    Tensor data = floats_of(bytes);
    std::vector<double> seconds;
    for (int i = -kWarmUp; i < repetitions; ++i) {
      ranks.barrier();
      const double begin = now_seconds();
      all_reduce->start(ranks, data)->wait();
      if (i >= 0) seconds.push_back(now_seconds() - begin);
    }
    times.push_back({bytes, slowest_median(ranks, seconds)});
  }
  return times;
}

NetworkDescription fit_network(std::span<const TimedMessage> messages, const std::string& name,
                               const std::string& source) {
  // With t = L + s / B, minimise the sum of (L / t + s / t / B - 1)^2.
  double aa = 0, ab = 0, bb = 0, a = 0, b = 0;
  for (const auto& [bytes, seconds] : messages) {
    if (!(seconds > 0)) {
      throw ValueError(
          fmt::format("calibration: {} bytes in {} s; expected more than 0", bytes, seconds));
    }
    const double x = 1 / seconds, y = static_cast<double>(bytes) / seconds;
    aa += x * x, ab += x * y, bb += y * y, a += x, b += y;
  }
  const double determinant = aa * bb - ab * ab;
  const double latency = (a * bb - b * ab) / determinant;
  const double seconds_a_byte = (b * aa - a * ab) / determinant;
  if (messages.size() < 2 || !(determinant > 0) || !(seconds_a_byte > 0)) {
    throw ValueError(
        fmt::format("calibration: no bandwidth fits {} messages; give sizes that lie further apart",
                    messages.size()));
  }
  NetworkDescription network;
  network.name = name;
  network.hosts = 1'000'000;
  network.latency = {std::max(0.0, latency), source};
  network.bandwidth = {1 / seconds_a_byte, source};
  return network;
}

NetworkTimes time_network(Communicator& ranks, const CalibrationOptions& options) {
  constexpr std::int64_t kLarge = 16384;  // as gradients are
  const auto sizes = sizes_between(options);
  std::vector<std::int64_t> large;
  std::ranges::copy_if(sizes, std::back_inserter(large),
                       [](std::int64_t bytes) { return bytes >= kLarge; });
  NetworkTimes times{.ranks = ranks.size(),
                     .medium = ranks.medium(),
                     .messages = time_messages(ranks, sizes, options.repetitions)};
  if (options.on_part) options.on_part();
  times.all_reduces = time_all_reduces(ranks, "ring", large, options.repetitions);
  if (options.on_part) options.on_part();
  return times;
}

NetworkCalibration calibrate_network(const NetworkTimes& times, const std::string& name) {
  std::vector<TimedMessage> fitted, others;
  for (std::size_t i = 0; i < times.messages.size(); ++i) {
    (i % 2 == 0 ? fitted : others).push_back(times.messages[i]);
  }
  const std::string source =
      fitted.empty() ? ""
                     : fmt::format("fitted to messages of {} to {} bytes, {}", fitted.front().bytes,
                                   fitted.back().bytes, times.medium);
  NetworkCalibration calibration{.network = fit_network(fitted, name, source)};
  const NetworkDescription& network = calibration.network;
  for (const TimedMessage& message : others) {
    const double predicted =
        network.latency.value + static_cast<double>(message.bytes) / network.bandwidth.value;
    calibration.held_out.push_back({"message", 2, message, predicted});
  }
  for (const TimedMessage& sum : times.all_reduces) {
    calibration.held_out.push_back({"all-reduce ring", times.ranks, sum,
                                    simulated_all_reduce(network, times.ranks, sum.bytes)});
  }
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
