// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "d5/level3_distributed/communicator/communicator.hpp"

namespace d5::detail {

/// The fastest all-reduce at a size.
struct FastestAllReduce {
  std::int64_t bytes = 0;
  std::string name;
  double seconds = 0;
};

/// The fastest all-reduce for each size, from the first quartile of the slowest rank's times in
/// interleaved calls of all algorithms that work here. The result is read from d5's cache, by
/// machine, medium, number of ranks and algorithms, or else measured; it is the same on all ranks.
/// A collective.
[[nodiscard]] std::vector<FastestAllReduce> fastest_all_reduces(Communicator& ranks);

/// The largest number of bytes that uses a row: the geometric mean of its size and the next.
[[nodiscard]] std::size_t reach_of(const std::vector<FastestAllReduce>& table, std::size_t row);
/// "recursive_doubling to 16KiB, then node_memory".
[[nodiscard]] std::string to_string(const std::vector<FastestAllReduce>& table);

}  // namespace d5::detail
