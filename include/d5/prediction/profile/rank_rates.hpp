// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5 {

/// What a rank's own processor does of an exchange, besides its messages. Units: bytes a second of
/// the result; 0: nobody measured it.
struct RankRates {
  double reduce_bandwidth = 0;  ///< `Communicator::reduce_local`: sums of float32
  double scale_bandwidth = 0;   ///< `Communicator::scale_local`
  double copy_bandwidth = 0;    ///< `Communicator::copy_local`
  double shared_bandwidth = 0;  ///< copies between a rank's memory and what it shares with others
  double shared_reduce_bandwidth = 0;  ///< sums of what another rank wrote there
  int ranks = 1;                       ///< that did the same meanwhile
  double alone = 1;                    ///< how many times as fast one is while the others rest
};
struct RankRateOptions {
  std::int64_t bytes = std::int64_t{1} << 20;   ///< of a part, such as algorithms sum at once
  std::int64_t arena = std::int64_t{64} << 20;  ///< that parts lie in, as gradients do
  int repetitions = 30;
};

/// Measures them on all ranks at the same time, which take memory from each other as those of one
/// machine do in an exchange. Results lie in an arena that is passed from end to end, and what is
/// added to them in one part that stays in the cache, as what has just been received does. What
/// ranks share is measured where they are of one node, as exchanges through it go: written, summed
/// from where the right neighbour wrote, written again and read there. Then rank 0 sums alone.
/// Medians, the mean over ranks, the same on each: a collective.
/// Throws: ValueError for sizes below 4 bytes, an arena below two parts, no repetition.
[[nodiscard]] RankRates time_rank_rates(Communicator& ranks, const RankRateOptions& options = {});

}  // namespace d5
