// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "d5/core/clock.hpp"
#include "d5/core/error.hpp"
#include "d5/core/statistics.hpp"
#include "d5/level3_distributed/collective.hpp"
#include "d5/prediction/network_calibration.hpp"
#include "level3_distributed/communicator/of_ranks.hpp"
#include "prediction/calibration/timed_repetitions.hpp"

namespace d5 {
namespace {

using detail::affordable;
using detail::expect_partners;
using detail::floats_of;
using detail::kWarmUp;
using detail::mean_of_ranks;
using detail::slowest_median;
using detail::slowest_of_repetitions;

int right_of(const Communicator& ranks) { return (ranks.rank() + 1) % ranks.size(); }
int left_of(const Communicator& ranks) { return (ranks.rank() + ranks.size() - 1) % ranks.size(); }

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
  const double begin = now_seconds();  // all pieces of work, and both ends
  const auto received = ranks.start_receive(in, left_of(ranks));
  const auto sent = ranks.start_send(out, right_of(ranks));
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
  std::vector<double> messages, works;
  for (int i = 0; i < kFewest; ++i) {
    ranks.barrier();
    const double begin = now_seconds();
    const auto received = ranks.start_receive(in, left_of(ranks));
    const auto sent = ranks.start_send(out, right_of(ranks));
    received->wait();
    sent->wait();
    messages.push_back(now_seconds() - begin);
    works.push_back(compute_alone(1, compute));
  }
  const double message = slowest_median(ranks, messages), work = slowest_median(ranks, works);
  return std::clamp(static_cast<int>(2 * message / std::max(work, 1e-9)), kFewest, kMost);
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
    times.push_back({bytes, slowest_of_repetitions(ranks, repetitions, [&] {
                       all_reduce->start(ranks, data)->wait();
                     })});
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
    times.push_back({bytes, std::max(0.0, mean_of_ranks(ranks, summarise(longer).median))});
  }
  return times;
}

double time_looks(Communicator& ranks, int repetitions) {
  constexpr int kLooks = 64;  // for the clock is coarser than one
  expect_partners(ranks, repetitions);
  std::vector<double> seconds;
  for (int i = -kWarmUp; i < repetitions; ++i) {
    Tensor in = floats_of(4);
    const auto received = ranks.start_receive(in, left_of(ranks));
    ranks.barrier();
    const double begin = now_seconds();  // looks alone: nothing is sent before the next barrier
    for (int look = 0; look < kLooks; ++look) (void)received->done();
    const double end = now_seconds();
    ranks.barrier();
    ranks.send(floats_of(4), right_of(ranks));
    received->wait();
    if (i >= 0) seconds.push_back((end - begin) / kLooks);
  }
  return mean_of_ranks(ranks, summarise(seconds).median);
}

std::vector<TimedMessage> time_shifts(Communicator& ranks, std::span<const std::int64_t> sizes,
                                      int repetitions) {
  expect_partners(ranks, repetitions);
  std::vector<TimedMessage> times;
  for (const std::int64_t bytes : sizes) {
    const Tensor out = floats_of(bytes);
    Tensor in = floats_of(bytes);
    times.push_back({bytes, slowest_of_repetitions(ranks, repetitions, [&] {
                       const auto received = ranks.start_receive(in, left_of(ranks));
                       ranks.send(out, right_of(ranks));
                       received->wait();
                     })});
  }
  return times;
}

}  // namespace d5
