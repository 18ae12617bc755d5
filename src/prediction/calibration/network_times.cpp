// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "d5/core/clock.hpp"
#include "d5/core/error.hpp"
#include "d5/core/statistics.hpp"
#include "d5/level3_distributed/collective.hpp"
#include "d5/prediction/network_calibration.hpp"

namespace d5 {
namespace {

constexpr int kWarmUp = 3;

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

/// How often it is to be done again, after it took so long once: at most `repetitions` times, and
/// so often that a size takes half a second, or five times. The same on every rank.
int affordable(Communicator& ranks, double once, int repetitions) {
  constexpr double kMostSeconds = 0.5;
  constexpr int kFewest = 5;
  const double slowest = slowest_median(ranks, {once});
  if (!(slowest * repetitions > kMostSeconds)) return repetitions;
  return std::min(repetitions, std::max(kFewest, static_cast<int>(kMostSeconds / slowest)));
}

/// The mean over ranks, the same on each.
double mean_of(Communicator& ranks, double mine) {
  Tensor sum = Tensor::borrow({DType::float64, {1}}, &mine, nullptr);
  ranks.all_reduce(sum, Reduction::sum);
  return mine / ranks.size();
}

/// Arithmetic in registers, of about a tenth of a millisecond.
void compute_some() {
  constexpr int kSteps = 50'000;
  volatile double result = 0;
  double value = 1.5;
  for (int i = 0; i < kSteps; ++i) value = value * 0.999 + 0.001;
  result = value;
  (void)result;
}

/// A piece of work after the other, with a look at both ends after each, until both are done; what
/// is left of `pieces` follows. `looks` counts those in vain.
double compute_beside(Communicator& ranks, const Tensor& out, Tensor& in, int pieces,
                      const std::function<void()>& compute, int& looks) {
  const int right = (ranks.rank() + 1) % ranks.size();
  const int left = (ranks.rank() + ranks.size() - 1) % ranks.size();
  const double begin = now_seconds();  // all pieces of work, and both ends
  const auto received = ranks.start_receive(in, left);
  const auto sent = ranks.start_send(out, right);
  for (int i = 0; i < pieces; ++i) {
    compute();
    looks += received->done() ? 0 : 1;
    looks += sent->done() ? 0 : 1;
  }
  const double end = now_seconds();
  received->wait();
  sent->wait();
  return end - begin;
}

double compute_alone(int pieces, const std::function<void()>& compute) {
  const double begin = now_seconds();  // the same work
  for (int i = 0; i < pieces; ++i) compute();
  return now_seconds() - begin;
}

/// So many that they take twice as long as the slowest rank's message.
int pieces_beside(Communicator& ranks, const Tensor& out, Tensor& in,
                  const std::function<void()>& compute) {
  constexpr int kFewest = 5, kMost = 10'000;
  const int right = (ranks.rank() + 1) % ranks.size();
  const int left = (ranks.rank() + ranks.size() - 1) % ranks.size();
  std::vector<double> messages, works;
  for (int i = 0; i < kFewest; ++i) {
    ranks.barrier();
    const double begin = now_seconds();
    const auto received = ranks.start_receive(in, left);
    const auto sent = ranks.start_send(out, right);
    received->wait();
    sent->wait();
    messages.push_back(now_seconds() - begin);
    works.push_back(compute_alone(1, compute));
  }
  const double message = slowest_median(ranks, messages), work = slowest_median(ranks, works);
  return std::clamp(static_cast<int>(2 * message / std::max(work, 1e-9)), kFewest, kMost);
}

/// Powers of two, and the sizes half way between them.
std::vector<std::int64_t> sizes_between(const CalibrationOptions& options) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t bytes = options.least_bytes; bytes <= options.most_bytes; bytes *= 2) {
    if (!sizes.empty()) sizes.push_back(bytes / 4 * 3);
    sizes.push_back(bytes);
  }
  const bool whole = std::ranges::all_of(sizes, [](std::int64_t each) { return each % 4 == 0; });
  if (options.least_bytes >= 8 && whole && sizes.size() >= 7) return sizes;
  throw ValueError(
      fmt::format("calibration: messages of {} to {} bytes; expected multiples of 8, and the "
                  "largest 8 times the smallest at least",
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
    double once = 0;
    for (int i = 0; ranks.rank() < 2 && i < kWarmUp; ++i) once = round_trip(ranks, data);
    const int count = affordable(ranks, once, repetitions);
    // Of the first one rank may come late.
    if (ranks.rank() < 2) (void)round_trip(ranks, data);
    for (int i = 0; ranks.rank() < 2 && i < count; ++i) {
      seconds.push_back(round_trip(ranks, data) / 2);
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
    const auto once = [&] {
      ranks.barrier();
      const double begin = now_seconds();
      all_reduce->start(ranks, data)->wait();
      return now_seconds() - begin;
    };
    for (int i = 1; i < kWarmUp; ++i) (void)once();
    const int count = affordable(ranks, once(), repetitions);
    std::vector<double> seconds;
    for (int i = 0; i < count; ++i) seconds.push_back(once());
    times.push_back({bytes, slowest_median(ranks, seconds)});
  }
  return times;
}

std::vector<TimedMessage> time_message_ends(Communicator& ranks,
                                            std::span<const std::int64_t> sizes,
                                            const MessageEndOptions& options) {
  expect_partners(ranks, options.repetitions);
  const std::function<void()> compute = options.compute ? options.compute : compute_some;
  std::vector<TimedMessage> times;
  for (const std::int64_t bytes : sizes) {
    const Tensor out = floats_of(bytes);
    Tensor in = floats_of(bytes);
    const int pieces = pieces_beside(ranks, out, in, compute);
    const auto once = [&](double& alone) {
      ranks.barrier();
      int looks = 0;
      const double beside = compute_beside(ranks, out, in, pieces, compute, looks);
      ranks.barrier();
      alone = compute_alone(pieces, compute);
      return beside - alone - looks * options.look;
    };
    double alone = 0;
    for (int i = 0; i < kWarmUp; ++i) (void)once(alone);
    const int count = affordable(ranks, 2 * alone, options.repetitions);
    std::vector<double> longer;
    for (int i = 0; i < count; ++i) longer.push_back(once(alone) / 2);
    times.push_back({bytes, std::max(0.0, mean_of(ranks, summarise(longer).median))});
  }
  return times;
}

double time_looks(Communicator& ranks, int repetitions) {
  constexpr int kLooks = 64;  // for the clock is coarser than one
  expect_partners(ranks, repetitions);
  const int right = (ranks.rank() + 1) % ranks.size();
  const int left = (ranks.rank() + ranks.size() - 1) % ranks.size();
  std::vector<double> seconds;
  for (int i = -kWarmUp; i < repetitions; ++i) {
    Tensor in = floats_of(4);
    const auto received = ranks.start_receive(in, left);
    ranks.barrier();
    const double begin = now_seconds();  // looks alone: nothing is sent before the next barrier
    for (int look = 0; look < kLooks; ++look) (void)received->done();
    const double end = now_seconds();
    ranks.barrier();
    ranks.send(floats_of(4), right);
    received->wait();
    if (i >= 0) seconds.push_back((end - begin) / kLooks);
  }
  return mean_of(ranks, summarise(seconds).median);
}

NetworkTimes time_network(Communicator& ranks, const CalibrationOptions& options) {
  constexpr std::int64_t kLarge = 16384;  // as gradients are
  const auto sizes = sizes_between(options);
  const auto told = [&] {
    if (options.on_part) options.on_part();
  };
  std::vector<std::int64_t> large;
  std::ranges::copy_if(sizes, std::back_inserter(large), [](std::int64_t bytes) {
    return bytes >= kLarge && std::has_single_bit(static_cast<std::uint64_t>(bytes));
  });
  const std::array<std::int64_t, 4> of_ends = {sizes.front(),
                                               std::min<std::int64_t>(sizes.back(), 64 << 10),
                                               std::min<std::int64_t>(sizes.back(), 512 << 10),
                                               std::min<std::int64_t>(sizes.back(), 4 << 20)};
  NetworkTimes times{.ranks = ranks.size(), .medium = ranks.medium()};
  times.messages = time_messages(ranks, sizes, options.repetitions);
  told();
  times.look = time_looks(ranks, options.repetitions);
  told();
  MessageEndOptions ends = options.ends;
  ends.look = times.look;
  times.ends = time_message_ends(ranks, of_ends, ends);
  told();
  times.all_reduces = time_all_reduces(ranks, "ring", large, options.repetitions);
  told();
  times.rates = time_rank_rates(ranks, options.rates);
  told();
  return times;
}

}  // namespace d5
