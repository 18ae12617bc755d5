// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/profile/rank_rates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "d5/core/clocks/clock.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/statistics/statistics.hpp"
#include "d5/level3_distributed/node/node_memory.hpp"
#include "level3_distributed/communicator/of_ranks.hpp"
#include "level3_distributed/node/nodes_of_strands.hpp"

namespace d5 {
namespace {

constexpr int kRateWarmUp = 3;

/// Rate of `work`, in bytes/s; its argument is the part of the arena to use.
template <class Work>
double own_rate(const RankRateOptions& options, const Work& work) {
  const std::int64_t parts = options.arena / options.bytes;
  std::vector<double> seconds;
  for (int i = -kRateWarmUp; i < options.repetitions; ++i) {
    const std::int64_t part = (i + kRateWarmUp) % parts;
    const double begin = now_seconds();  // timed: one pass over one part
    work(part);
    const double end = now_seconds();
    if (i >= 0) seconds.push_back(end - begin);
  }
  const double median = summarise(seconds).median;
  return median > 0 ? static_cast<double>(options.bytes) / median : 0;  // 0: virtual time
}

/// The mean rate over ranks, measured on all at the same time.
template <class Work>
double rate_of(Communicator& ranks, const RankRateOptions& options, const Work& work) {
  ranks.barrier();
  const double rate = own_rate(options, work);
  ranks.barrier();
  return detail::mean_of_ranks(ranks, rate);
}

/// Speed of rank 0 alone relative to `together`.
template <class Work>
double alone_factor(Communicator& ranks, const RankRateOptions& options, double together,
                    const Work& work) {
  ranks.barrier();
  double factor = 1;
  if (ranks.rank() == 0 && together > 0) {
    factor = std::max(1.0, own_rate(options, work) / together);
  }
  Tensor told = Tensor::borrow({DType::float64, {1}}, &factor, nullptr);
  ranks.broadcast(told, 0);
  return factor;
}

/// Times of passes between two barriers.
class TimedPasses {
 public:
  template <class Work>
  void add(Communicator& ranks, bool counts, const Work& work) {
    ranks.barrier();
    const double begin = now_seconds();  // timed: one pass over one buffer
    work();
    const double end = now_seconds();
    if (counts) seconds_.push_back(end - begin);
  }
  [[nodiscard]] double median() const { return summarise(seconds_).median; }

 private:
  std::vector<double> seconds_;
};

/// Measures passes over buffers in shared memory, as in exchanges: data read was last in another
/// core's cache, and data written was read by another core. Does nothing if ranks share no memory.
template <class Part>
void time_shared(RankRates& rates, Communicator& ranks, const RankRateOptions& options,
                 const Part& part) {
  constexpr std::int64_t kRoom = std::int64_t{256} << 10;
  if (ranks.size() == 1 || node_group(ranks)->size() < ranks.size()) return;
  const TensorDesc room{DType::float32, {std::min(kRoom, options.bytes) / 4}};
  const auto memory =
      NodeMemory::make(ranks, room.bytes() * static_cast<std::size_t>(ranks.size()));
  const auto room_of = [&](int rank) {
    return memory->at(room.bytes() * static_cast<std::size_t>(rank), room);
  };
  Tensor mine = room_of(ranks.rank());
  const Tensor other = room_of((ranks.rank() + 1) % ranks.size());
  const auto copy = [&](Tensor& to, const Tensor& from) {
    detail::copy_in_node(static_cast<std::byte*>(to.raw()),
                         static_cast<const std::byte*>(from.raw()), room.bytes(), true);
  };
  TimedPasses writes, sums, reads;
  for (int i = -kRateWarmUp; i < options.repetitions; ++i) {
    Tensor own = part((i + kRateWarmUp) % (options.arena / options.bytes)).slice(0, room.shape[0]);
    const auto write = [&] { copy(mine, own); };
    writes.add(ranks, i >= 0, write);
    sums.add(ranks, i >= 0,
             [&] { detail::reduce_in_node(ranks, own, other, Reduction::sum, true); });
    writes.add(ranks, i >= 0, write);
    reads.add(ranks, i >= 0, [&] { copy(own, other); });
  }
  ranks.barrier();
  const auto rate = [&](double passes, double seconds) {
    return detail::mean_of_ranks(
        ranks, seconds > 0 ? passes * static_cast<double>(room.bytes()) / seconds : 0);
  };
  rates.shared_bandwidth = rate(3, 2 * writes.median() + reads.median());
  rates.shared_reduce_bandwidth = rate(1, sums.median());
}

}  // namespace

RankRates time_rank_rates(Communicator& ranks, const RankRateOptions& options) {
  if (options.bytes < 4 || options.arena < 2 * options.bytes || options.repetitions < 1) {
    throw ValueError(fmt::format(
        "rates of a rank: parts of {} bytes in {}, {} repetitions; expected parts of 4 bytes or "
        "more, two of them at least, and a repetition",
        options.bytes, options.arena, options.repetitions));
  }
  const std::int64_t elements = options.bytes / 4;
  const Tensor arena = Tensor::zeros(DType::float32, {options.arena / options.bytes * elements});
  Tensor received = Tensor::zeros(DType::float32, {elements});
  const auto part = [&](std::int64_t index) {
    return arena.slice(index * elements, (index + 1) * elements);
  };
  const auto sum = [&](std::int64_t index) {
    Tensor into = part(index);
    ranks.reduce_local(into, received);
  };
  RankRates rates{.ranks = ranks.size()};
  rates.reduce_bandwidth = rate_of(ranks, options, sum);
  rates.scale_bandwidth = rate_of(ranks, options, [&](std::int64_t index) {
    Tensor into = part(index);
    ranks.scale_local(into, 0.5);
  });
  rates.copy_bandwidth = rate_of(ranks, options, [&](std::int64_t index) {
    Tensor into = part(index);
    ranks.copy_local(into, received);
  });
  time_shared(rates, ranks, options, part);
  if (ranks.size() > 1) {
    rates.alone = alone_factor(ranks, options, rates.reduce_bandwidth, sum);
  }
  return rates;
}

}  // namespace d5
