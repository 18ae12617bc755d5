// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace d5::detail {

/// Limits of this process's control groups, as set by a container. 0: no limit.
struct ControlGroupLimits {
  double processors = 0;
  double memory_bytes = 0;
};

/// Reads versions 1 and 2, and returns the tightest limit up to the root of the hierarchy. `groups`
/// is the file with this process's groups, `mount` the mount point of the hierarchies.
[[nodiscard]] ControlGroupLimits control_group_limits(
    const std::string& groups = "/proc/self/cgroup", const std::string& mount = "/sys/fs/cgroup");

}  // namespace d5::detail
