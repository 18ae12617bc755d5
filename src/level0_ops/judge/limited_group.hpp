// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace d5::detail {

/// A control group of one process, below the judge's own: limits what the process takes from the
/// machine, its threads and children with it, shared memory too. Versions 1 and 2; removed at the
/// end, after the process's own.
///
/// Source: Linux, Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/.
class LimitedGroup {
 public:
  struct Limits {
    std::size_t bytes = 0;  ///< 0: no limit
    int tasks = 0;          ///< threads and processes; 0: no limit
  };
  /// Makes what the system permits. `groups` is the file with this process's groups, `mount` the
  /// mount point of the hierarchies. Throws: nothing.
  LimitedGroup(pid_t process, const Limits& limits, const std::string& groups = "/proc/self/cgroup",
               const std::string& mount = "/sys/fs/cgroup");
  ~LimitedGroup();
  LimitedGroup(const LimitedGroup&) = delete;
  LimitedGroup& operator=(const LimitedGroup&) = delete;

  /// "memory, tasks", or why there is none.
  [[nodiscard]] std::string words() const;

 private:
  void limit(const std::filesystem::path& parent, pid_t process, const Limits& limits);

  std::vector<std::filesystem::path> folders_;
  std::vector<std::string> limited_;
};

}  // namespace d5::detail
