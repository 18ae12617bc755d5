// SPDX-License-Identifier: Apache-2.0
#include "core/machine/control_group.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace d5::detail {
namespace {

namespace fs = std::filesystem;

/// The first number of a file; negative if it is missing or "max".
double number_in(const fs::path& file) {
  double value = -1;
  return std::ifstream(file) >> value ? value : -1;
}

void tighten(double& limit, double candidate) {
  if (candidate > 0 && (limit == 0 || candidate < limit)) limit = candidate;
}

void look_at(const fs::path& group, ControlGroupLimits& limits) {
  // Version 1 represents "no limit" by a number near 2^63.
  constexpr double kNoLimit = 1e18;
  double quota = -1, period = -1;
  if (std::ifstream(group / "cpu.max") >> quota >> period && period > 0) {
    tighten(limits.processors, quota / period);
  }
  quota = number_in(group / "cpu.cfs_quota_us");
  period = number_in(group / "cpu.cfs_period_us");
  if (period > 0) tighten(limits.processors, quota / period);
  for (const char* name : {"memory.max", "memory.limit_in_bytes"}) {
    const double bytes = number_in(group / name);
    if (bytes < kNoLimit) tighten(limits.memory_bytes, bytes);
  }
}

}  // namespace

ControlGroupLimits control_group_limits(const std::string& groups, const std::string& mount) {
  ControlGroupLimits limits;
  std::ifstream file(groups);
  // Lines are HIERARCHY:CONTROLLERS:PATH. Version 2 has no controllers, and may be mounted
  // elsewhere.
  for (std::string line; std::getline(file, line);) {
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    fs::path path = fs::path(line.substr(second + 1)).relative_path();
    while (true) {
      for (const fs::path& root : {fs::path(mount) / controllers, fs::path(mount) / "unified"}) {
        look_at(root / path, limits);
      }
      if (path.empty()) break;
      path = path.parent_path();
    }
  }
  return limits;
}

}  // namespace d5::detail
