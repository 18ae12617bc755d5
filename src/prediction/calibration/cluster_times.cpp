// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "d5/core/clocks/clock.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level3_distributed/node/node_memory.hpp"
#include "d5/prediction/calibration/cluster_calibration.hpp"
#include "level3_distributed/communicator/patience.hpp"
#include "level3_distributed/node/nodes_of_strands.hpp"
#include "prediction/calibration/timed_repetitions.hpp"

namespace d5 {
namespace {

/// Powers of two and the middles between them.
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

double time_signals(Communicator& ranks, int repetitions) {
  constexpr int kTrips = 64;  // more than the clock's resolution
  detail::expect_partners(ranks, repetitions);
  if (node_group(ranks)->size() < ranks.size()) return 0;
  const auto memory = NodeMemory::make(ranks, 2 * sizeof(NodeCounter));
  auto* const counters = reinterpret_cast<NodeCounter*>(memory->data());
  const int rank = ranks.rank();
  std::int64_t trip = 0;
  const auto wait = [&] {
    for (detail::Patience patience; detail::look_at(counters[1 - rank]) < trip; patience.pause()) {
    }
  };
  const auto once = [&] {
    if (rank >= 2) return 0.0;
    const double begin = now_seconds();  // timed: the round trips
    for (int each = 0; each < kTrips; ++each) {
      ++trip;
      if (rank == 1) wait();
      detail::publish(counters[rank], trip);
      if (rank == 0) wait();
    }
    return (now_seconds() - begin) / kTrips / 2;
  };
  ranks.barrier();
  const auto seconds = detail::in_turns(ranks, 1, repetitions, [&](std::size_t) { return once(); });
  return detail::slowest_median(ranks, seconds.front());
}

ClusterTimes time_cluster(Communicator& ranks, const CalibrationOptions& options) {
  constexpr std::int64_t kLarge = 16384;  // typical of gradients
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
  ClusterTimes times{.ranks = ranks.size(), .medium = ranks.medium()};
  times.messages = time_messages(ranks, sizes, options.repetitions);
  told();
  times.look = time_looks(ranks, options.repetitions);
  told();
  MessageEndOptions ends = options.ends;
  ends.look = times.look;
  times.ends = time_message_ends(ranks, of_ends, ends);
  told();
  times.shifts = time_shifts(ranks, std::span(of_ends).subspan(2), options.repetitions);
  told();
  times.signal = time_signals(ranks, options.repetitions);
  if (times.signal > 0) {
    times.in_memory = time_all_reduces(ranks, "node_memory", large, options.repetitions);
  }
  told();
  times.all_reduces = time_all_reduces(ranks, "ring", large, options.repetitions);
  told();
  times.rates = time_rank_rates(ranks, options.rates);
  told();
  return times;
}

}  // namespace d5
