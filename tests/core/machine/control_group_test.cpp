// SPDX-License-Identifier: Apache-2.0
#include "core/machine/control_group.hpp"
#include "tests/temporary_folder.hpp"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

using namespace d5;
namespace fs = std::filesystem;

namespace {

/// A hierarchy of control groups in a folder of its own.
class Hierarchy : testing::TemporaryFolder {
 public:
  Hierarchy(const std::string& groups, const std::map<std::string, std::string>& files) {
    std::ofstream(path() / "groups") << groups;
    for (const auto& [name, text] : files) {
      fs::create_directories((path() / name).parent_path());
      std::ofstream(path() / name) << text << '\n';
    }
  }
  [[nodiscard]] detail::ControlGroupLimits limits() const {
    return detail::control_group_limits((path() / "groups").string(), path().string());
  }
};

}  // namespace

TEST_CASE("version 2: the tightest limit of a group and those above it") {
  const Hierarchy tree("0::/pod/box\n", {{"cpu.max", "max 100000"},
                                         {"pod/cpu.max", "150000 100000"},
                                         {"pod/box/cpu.max", "max 100000"},
                                         {"pod/memory.max", "max"},
                                         {"pod/box/memory.max", "1073741824"}});
  CHECK(tree.limits().processors == 1.5);
  CHECK(tree.limits().memory_bytes == 1073741824);
}

TEST_CASE("version 1: controllers have hierarchies of their own") {
  const Hierarchy tree("5:memory:/box\n4:cpu,cpuacct:/box\n",
                       {{"memory/box/memory.limit_in_bytes", "536870912"},
                        {"memory/memory.limit_in_bytes", "9223372036854771712"},
                        {"cpu,cpuacct/box/cpu.cfs_quota_us", "50000"},
                        {"cpu,cpuacct/box/cpu.cfs_period_us", "100000"}});
  CHECK(tree.limits().processors == 0.5);
  CHECK(tree.limits().memory_bytes == 536870912);
}

TEST_CASE("without limits there are none") {
  const Hierarchy tree(
      "4:cpu:/\n0::/\n",
      {{"cpu/cpu.cfs_quota_us", "-1"}, {"cpu/cpu.cfs_period_us", "100000"}, {"memory.max", "max"}});
  CHECK(tree.limits().processors == 0);
  CHECK(tree.limits().memory_bytes == 0);
  CHECK(detail::control_group_limits("/nowhere", "/nowhere").processors == 0);
}
