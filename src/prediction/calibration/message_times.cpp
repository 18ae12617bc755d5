// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "d5/core/clocks/clock.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/statistics/statistics.hpp"
#include "d5/level3_distributed/collectives/collective.hpp"
#include "d5/prediction/calibration/cluster_calibration.hpp"
#include "level3_distributed/communicator/of_ranks.hpp"
#include "prediction/calibration/timed_repetitions.hpp"

namespace d5 {
namespace {

using detail::expect_floats;
using detail::expect_partners;
using detail::in_turns;
using detail::mean_of_ranks;
using detail::slowest_median;

int right_of(const Communicator& ranks) { return (ranks.rank() + 1) % ranks.size(); }
int left_of(const Communicator& ranks) { return (ranks.rank() + ranks.size() - 1) % ranks.size(); }

/// A send and a receive buffer; each size uses the beginning. As in repeated all-reduces, received
/// data is sent next and sent data is overwritten: writing to cache lines that another core has
/// read takes longer, and this time belongs to the message.
class Buffers {
 public:
  /// Throws: ValueError for a single rank, no repetition, or a size that is not a multiple of 4.
  Buffers(const Communicator& ranks, std::span<const std::int64_t> sizes, int repetitions)
      : sizes_(sizes.begin(), sizes.end()) {
    expect_partners(ranks, repetitions);
    for (const std::int64_t bytes : sizes) expect_floats(bytes);
    if (sizes.empty()) return;
    const std::int64_t most = std::ranges::max(sizes_) / 4;
    out_ = Tensor::zeros(DType::float32, {most});
    in_ = Tensor::zeros(DType::float32, {most});
  }
  [[nodiscard]] Tensor out(std::size_t i) const { return out_.slice(0, sizes_[i] / 4); }
  [[nodiscard]] Tensor in(std::size_t i) const { return in_.slice(0, sizes_[i] / 4); }
  void swap() { std::swap(out_, in_); }

 private:
  std::vector<std::int64_t> sizes_;
  Tensor out_, in_;
};

/// Seconds of `work`, which all ranks begin at the same time.
double seconds_of(Communicator& ranks, const std::function<void()>& work) {
  ranks.barrier();
  const double begin = now_seconds();
  work();
  return now_seconds() - begin;
}

/// Medians, on the slowest rank, of the results of `once` for each size. Sizes are interleaved.
template <class Once>
std::vector<TimedMessage> slowest_medians(Communicator& ranks, std::span<const std::int64_t> sizes,
                                          int repetitions, const Once& once) {
  const auto seconds = in_turns(ranks, sizes.size(), repetitions, once);
  std::vector<TimedMessage> times;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    times.push_back({sizes[i], slowest_median(ranks, seconds[i])});
  }
  return times;
}

/// One round trip.
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

/// Runs pieces of work, polling both requests after each until both are done, and then the rest of
/// `pieces`. `looks` counts unsuccessful polls.
double compute_beside(Communicator& ranks, const Tensor& out, Tensor& in, int pieces,
                      const std::function<void()>& compute, int& looks) {
  const double begin = now_seconds();  // timed: all pieces of work and both requests
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
  const double begin = now_seconds();  // timed: the same work alone
  for (int i = 0; i < pieces; ++i) compute();
  return now_seconds() - begin;
}

/// The number of pieces of work that takes twice as long as the slowest rank's message.
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
  const Buffers buffers(ranks, sizes, repetitions);
  return slowest_medians(ranks, sizes, repetitions, [&](std::size_t i) {
    if (ranks.rank() >= 2) return 0.0;
    Tensor data = buffers.in(i);
    return round_trip(ranks, data) / 2;
  });
}

std::vector<TimedMessage> time_all_reduces(Communicator& ranks, const std::string& algorithm,
                                           std::span<const std::int64_t> sizes, int repetitions) {
  const Buffers buffers(ranks, sizes, repetitions);
  const auto all_reduce = all_reduces().at(algorithm).make();
  return slowest_medians(ranks, sizes, repetitions, [&](std::size_t i) {
    Tensor data = buffers.in(i);
    return seconds_of(ranks, [&] { all_reduce->start(ranks, data)->wait(); });
  });
}

std::vector<TimedMessage> time_message_ends(Communicator& ranks,
                                            std::span<const std::int64_t> sizes,
                                            const MessageEndOptions& options) {
  Buffers buffers(ranks, sizes, options.repetitions);
  const std::function<void()> compute = options.compute ? options.compute : compute_some;
  std::vector<int> pieces;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    Tensor in = buffers.in(i);
    pieces.push_back(pieces_beside(ranks, buffers.out(i), in, compute));
  }
  const auto longer = in_turns(ranks, sizes.size(), options.repetitions, [&](std::size_t i) {
    buffers.swap();
    const Tensor out = buffers.out(i);
    Tensor in = buffers.in(i);
    ranks.barrier();
    int looks = 0;
    const double beside = compute_beside(ranks, out, in, pieces[i], compute, looks);
    ranks.barrier();
    return (beside - compute_alone(pieces[i], compute) - looks * options.look) / 2;
  });
  std::vector<TimedMessage> times;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const double seconds = mean_of_ranks(ranks, summarise(longer[i]).median);
    times.push_back({sizes[i], std::max(0.0, seconds)});
  }
  return times;
}

double time_looks(Communicator& ranks, int repetitions) {
  constexpr int kLooks = 64;  // more than the clock's resolution
  expect_partners(ranks, repetitions);
  const auto seconds = in_turns(ranks, 1, repetitions, [&](std::size_t) {
    Tensor in = Tensor::zeros(DType::float32, {1});
    const auto received = ranks.start_receive(in, left_of(ranks));
    ranks.barrier();
    const double begin = now_seconds();  // timed: polls before any message
    for (int look = 0; look < kLooks; ++look) (void)received->done();
    const double end = now_seconds();
    ranks.barrier();
    ranks.send(Tensor::zeros(DType::float32, {1}), right_of(ranks));
    received->wait();
    return (end - begin) / kLooks;
  });
  return mean_of_ranks(ranks, summarise(seconds.front()).median);
}

std::vector<TimedMessage> time_shifts(Communicator& ranks, std::span<const std::int64_t> sizes,
                                      int repetitions) {
  Buffers buffers(ranks, sizes, repetitions);
  return slowest_medians(ranks, sizes, repetitions, [&](std::size_t i) {
    buffers.swap();
    const Tensor out = buffers.out(i);
    Tensor in = buffers.in(i);
    return seconds_of(ranks, [&] {
      const auto received = ranks.start_receive(in, left_of(ranks));
      ranks.send(out, right_of(ranks));
      received->wait();
    });
  });
}

}  // namespace d5
