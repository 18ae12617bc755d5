// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace d5::detail {

/// This machine's processors and memory, as hwloc sees them.
struct Machine {
  std::string cpu;
  int sockets = 0, cores = 0, hardware_threads = 0, numa_nodes = 0;
  double l1_bytes = 0, l2_bytes = 0, l3_bytes = 0;  ///< of one instance; 0 where there is none
  double memory_bytes = 0;
  /// Numbers of the hardware threads that this process may use: the first of each core, then the
  /// others, as they are best filled.
  std::vector<int> allowed;
};

/// Looked at once, before anything is pinned.
[[nodiscard]] const Machine& machine();

/// "0-1", "0,2,4-7".
[[nodiscard]] std::string to_ranges(std::vector<int> numbers);

}  // namespace d5::detail
