// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace d5::detail {

/// This machine's processors and memory, as hwloc sees them.
struct Machine {
  std::string cpu;
  int sockets = 0, cores = 0, hardware_threads = 0, numa_nodes = 0;
  double l1_bytes = 0, l2_bytes = 0, l3_bytes = 0;  ///< size of one instance; 0: none
  double memory_bytes = 0;
  /// The hardware threads that this process may use, in order of preference: first one per core,
  /// then the others.
  std::vector<int> allowed;
};

/// Detected once, before anything is pinned.
[[nodiscard]] const Machine& machine();

/// "0-1", "0,2,4-7".
[[nodiscard]] std::string to_ranges(std::vector<int> numbers);

}  // namespace d5::detail
