// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5 {

/// Local work of an exchange on a rank's processor, besides its messages. Units: bytes of the
/// result per second; 0: not measured.
struct RankRates {
  double reduce_bandwidth = 0;         ///< `Communicator::reduce_local`: sums of float32
  double scale_bandwidth = 0;          ///< `Communicator::scale_local`
  double copy_bandwidth = 0;           ///< `Communicator::copy_local`
  double shared_bandwidth = 0;         ///< copies between private and shared memory
  double shared_reduce_bandwidth = 0;  ///< sums of another rank's data in shared memory
  int ranks = 1;                       ///< number of ranks measured at the same time
  double alone = 1;                    ///< speed-up of a single rank while the others idle
};
struct RankRateOptions {
  std::int64_t bytes = std::int64_t{1} << 20;  ///< size of a part that algorithms sum at once
  std::int64_t arena = std::int64_t{64}
                       << 20;  ///< size of the arena with the parts, as for gradients
  int repetitions = 30;
};

/// Measures the rates on all ranks at the same time, so that ranks of one machine compete for
/// memory bandwidth as in an exchange. Results lie in an arena that is traversed from end to end;
/// the other operand is one part that stays in the cache, like data just received. Shared memory is
/// measured if the ranks are on one node, in the order of an exchange: write, sum the right
/// neighbour's data, write again and read. Finally rank 0 sums alone. Returns the means over ranks
/// of the medians, the same on each. A collective.
/// Throws: ValueError for sizes below 4 bytes, an arena below two parts, no repetition.
[[nodiscard]] RankRates time_rank_rates(Communicator& ranks, const RankRateOptions& options = {});

}  // namespace d5
