// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace d5::detail {

/// What the system's control groups leave this process, as a container sets them. 0: no limit.
struct ControlGroupLimits {
  double processors = 0;
  double memory_bytes = 0;
};

/// Version 2 and version 1, the tightest limit up to the root of the hierarchy. `groups` is the
/// list of this process's groups, `mount` where the hierarchies are.
[[nodiscard]] ControlGroupLimits control_group_limits(
    const std::string& groups = "/proc/self/cgroup", const std::string& mount = "/sys/fs/cgroup");

}  // namespace d5::detail
