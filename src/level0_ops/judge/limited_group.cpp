// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/judge/limited_group.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <string_view>
#include <system_error>

namespace d5::detail {
namespace {

namespace fs = std::filesystem;

/// Writes a number into a file of the kernel's, which must exist.
bool write_number(const fs::path& file, std::size_t number) {
  std::error_code unknown;
  if (!fs::exists(file, unknown)) return false;
  std::ofstream stream(file);
  stream << number << std::flush;
  return bool(stream);
}

}  // namespace

LimitedGroup::LimitedGroup(pid_t process, const Limits& limits, const std::string& groups,
                           const std::string& mount) {
  std::ifstream file(groups);
  // Lines are HIERARCHY:CONTROLLERS:PATH. Version 2 has no controllers, and may be mounted
  // elsewhere.
  for (std::string line; std::getline(file, line);) {
    const auto first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool wanted = controllers.empty() || controllers == "memory" || controllers == "pids";
    const fs::path path = fs::path(line.substr(second + 1)).relative_path();
    if (wanted) limit(fs::path(mount) / controllers / path, process, limits);
    if (controllers.empty()) limit(fs::path(mount) / "unified" / path, process, limits);
  }
}

void LimitedGroup::limit(const fs::path& parent, pid_t process, const Limits& limits) {
  std::error_code refused;
  if (!fs::exists(parent / "cgroup.procs", refused)) return;
  const fs::path folder = parent / fmt::format("d5-judged-{}", process);
  if (!fs::create_directory(folder, refused)) return;
  folders_.push_back(folder);
  std::vector<std::string> done;
  if (limits.bytes > 0 && (write_number(folder / "memory.max", limits.bytes) ||
                           write_number(folder / "memory.limit_in_bytes", limits.bytes))) {
    done.emplace_back("memory");
  }
  if (limits.tasks > 0 && write_number(folder / "pids.max", std::size_t(limits.tasks))) {
    done.emplace_back("tasks");
  }
  if (done.empty() || !write_number(folder / "cgroup.procs", std::size_t(process))) return;
  std::ranges::move(done, std::back_inserter(limited_));
}

LimitedGroup::~LimitedGroup() {
  for (const fs::path& folder : folders_) {
    std::error_code occupied;  // it stays, empty, if the process still ends
    fs::remove(folder, occupied);
  }
}

std::string LimitedGroup::words() const {
  if (!limited_.empty()) return fmt::format("{}", fmt::join(limited_, ", "));
  return "none: this process may make no group that limits memory or tasks";
}

}  // namespace d5::detail
