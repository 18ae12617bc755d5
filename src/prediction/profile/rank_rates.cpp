// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/rank_rates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "d5/core/clock.hpp"
#include "d5/core/error.hpp"
#include "d5/core/statistics.hpp"
#include "d5/level3_distributed/node_memory.hpp"
#include "level3_distributed/node/nodes_of_strands.hpp"

namespace d5 {
namespace {

/// Bytes a second of `work`, which is told which part of the arena it is to take; `between` follows
/// each outside of the clock.
template <class Work, class Between>
double own_rate(const RankRateOptions& options, const Work& work, const Between& between) {
  constexpr int kWarmUp = 3;
  const std::int64_t parts = options.arena / options.bytes;
  std::vector<double> seconds;
  for (int i = -kWarmUp; i < options.repetitions; ++i) {
    const std::int64_t part = (i + kWarmUp) % parts;
    const double begin = now_seconds();  // one pass over one part
    work(part);
    const double end = now_seconds();
    if (i >= 0) seconds.push_back(end - begin);
    between();
  }
  const double median = summarise(seconds).median;
  return median > 0 ? static_cast<double>(options.bytes) / median : 0;  // 0: virtual time
}

/// The mean over ranks, the same on each.
double mean_rate(Communicator& ranks, double rate) {
  Tensor sum = Tensor::borrow({DType::float64, {1}}, &rate, nullptr);
  ranks.all_reduce(sum, Reduction::sum);
  return rate / ranks.size();
}

/// All ranks at the same time.
template <class Work>
double rate_of(Communicator& ranks, const RankRateOptions& options, const Work& work) {
  ranks.barrier();
  const double rate = own_rate(options, work, [] {});
  ranks.barrier();
  return mean_rate(ranks, rate);
}

/// How many times as fast as `together` rank 0 is while the others rest.
template <class Work>
double alone_factor(Communicator& ranks, const RankRateOptions& options, double together,
                    const Work& work) {
  ranks.barrier();
  double factor = 1;
  if (ranks.rank() == 0 && together > 0) {
    factor = std::max(1.0, own_rate(options, work, [] {}) / together);
  }
  Tensor told = Tensor::borrow({DType::float64, {1}}, &factor, nullptr);
  ranks.broadcast(told, 0);
  return factor;
}

/// Each writes to a room of its own in memory that all share, and then reads its neighbour's, as
/// exchanges through that memory do: what is read was last in another core's cache. 0: they share
/// none.
template <class Part>
double shared_rate(Communicator& ranks, const RankRateOptions& options, const Part& part) {
  constexpr std::int64_t kRoom = std::int64_t{256} << 10;
  if (ranks.size() == 1 || node_group(ranks)->size() < ranks.size()) return 0;
  RankRateOptions rooms = options;
  rooms.bytes = std::min(kRoom, options.bytes / 4 * 4);
  const auto size = static_cast<std::size_t>(rooms.bytes);
  const auto memory = NodeMemory::make(ranks, size * static_cast<std::size_t>(ranks.size()));
  const auto room = [&](int rank) {
    return memory->data() + size * static_cast<std::size_t>(rank);
  };
  const auto own = [&](std::int64_t index) { return static_cast<std::byte*>(part(index).raw()); };
  const int neighbour = (ranks.rank() + 1) % ranks.size();
  const auto meet = [&] { ranks.barrier(); };
  ranks.barrier();
  const double writes = own_rate(
      rooms, [&](std::int64_t i) { detail::copy_in_node(room(ranks.rank()), own(i), size, true); },
      meet);
  const double reads = own_rate(
      rooms, [&](std::int64_t i) { detail::copy_in_node(own(i), room(neighbour), size, true); },
      [&] {
        ranks.barrier();
        std::memset(room(ranks.rank()), 0, size);  // in this core's cache
        ranks.barrier();
      });
  if (!(writes > 0 && reads > 0)) return mean_rate(ranks, 0);
  return mean_rate(ranks, 2 / (1 / writes + 1 / reads));
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
  rates.shared_bandwidth = shared_rate(ranks, options, part);
  if (ranks.size() > 1) {
    rates.alone = alone_factor(ranks, options, rates.reduce_bandwidth, sum);
  }
  return rates;
}

}  // namespace d5
