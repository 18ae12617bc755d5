// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace d5::detail {

enum class ProcessorEvent { instructions, cycles, cache_misses, branch_misses };

/// A hardware counter on each present thread of this process, including threads that these start
/// later. Counts user space only, which systems more often allow without privileges.
class ThreadCounters {
 public:
  explicit ThreadCounters(ProcessorEvent event);
  ~ThreadCounters();
  ThreadCounters(const ThreadCounters&) = delete;
  ThreadCounters& operator=(const ThreadCounters&) = delete;

  /// Sum over all threads since construction. If the processor has fewer counters than requested,
  /// they are multiplexed, and the count is extrapolated.
  [[nodiscard]] double count() const;
  /// The reason why nothing is counted; empty if it is.
  [[nodiscard]] const std::string& absence() const { return absence_; }

 private:
  std::vector<int> files_;
  std::string absence_;
};

}  // namespace d5::detail
