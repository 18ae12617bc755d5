// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5::detail {

/// Which all-reduce was the fastest at a size.
struct FastestAllReduce {
  std::int64_t bytes = 0;
  std::string name;
  double seconds = 0;
};

/// Measured between these ranks, size by size: of interleaved calls of every all-reduce that works
/// here the first quartile of the slowest rank's times. Kept in a file of d5's cache for machine,
/// medium, number of ranks and algorithms, and measured where there is none; the same on all ranks.
/// A collective.
[[nodiscard]] std::vector<FastestAllReduce> fastest_all_reduces(Communicator& ranks);

/// The most bytes for which a row stands: half way to the next by ratio.
[[nodiscard]] std::size_t reach_of(const std::vector<FastestAllReduce>& table, std::size_t row);
/// "recursive_doubling to 16KiB, then node_memory".
[[nodiscard]] std::string to_string(const std::vector<FastestAllReduce>& table);

}  // namespace d5::detail
