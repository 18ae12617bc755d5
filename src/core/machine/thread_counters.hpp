// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace d5::detail {

enum class ProcessorEvent { instructions, cycles, cache_misses, branch_misses };

/// One counter of the processor on each thread that this process has now; threads that these start
/// are counted with them. Counts user space alone, which systems allow to everybody more often.
class ThreadCounters {
 public:
  explicit ThreadCounters(ProcessorEvent event);
  ~ThreadCounters();
  ThreadCounters(const ThreadCounters&) = delete;
  ThreadCounters& operator=(const ThreadCounters&) = delete;

  /// All threads together, since it was made. Where the processor has fewer counters than are asked
  /// of it, each counts a part of the time, and its count is extrapolated.
  [[nodiscard]] double count() const;
  /// Why nothing is counted; empty if all is well.
  [[nodiscard]] const std::string& absence() const { return absence_; }

 private:
  std::vector<int> files_;
  std::string absence_;
};

}  // namespace d5::detail
