// SPDX-License-Identifier: Apache-2.0
#include "core/machine/rapl.hpp"

#include <fmt/format.h>

#include <fstream>

namespace d5::detail {
namespace {

namespace fs = std::filesystem;

/// The number in a file; -1 if it cannot be read.
double read(const fs::path& path) {
  double value = -1;
  return std::ifstream(path) >> value ? value : -1;
}

/// The zone of the whole platform ("psys") would count the packages twice.
bool is_package(const fs::path& zone) {
  const std::string file = zone.filename();
  // "intel-rapl:0" is a package, "intel-rapl:0:1" a part of one.
  if (!file.starts_with("intel-rapl:") || file.find(':') != file.rfind(':')) return false;
  std::string name;
  return std::ifstream(zone / "name") >> name && name.starts_with("package");
}

}  // namespace

Rapl::Rapl(const fs::path& folder) {
  std::error_code ignored;
  for (const auto& zone : fs::directory_iterator(folder, ignored)) {
    if (!is_package(zone.path())) continue;
    const fs::path counter = zone.path() / "energy_uj";
    packages_.push_back({counter, read(zone.path() / "max_energy_range_uj"), read(counter)});
    if (packages_.back().last < 0) absence_ = "the RAPL counters may not be read by this user";
  }
  if (packages_.empty()) {
    absence_ = fmt::format("this machine shows no RAPL counters ({})", folder.string());
  }
}

double Rapl::joules() {
  for (auto& package : packages_) {
    const double now = read(package.counter);
    if (now < 0) {
      absence_ = "the RAPL counters could not be read any more";
      continue;
    }
    const double more = now - package.last;
    joules_ += 1e-6 * (more < 0 ? more + package.range : more);
    package.last = now;
  }
  return joules_;
}

}  // namespace d5::detail
