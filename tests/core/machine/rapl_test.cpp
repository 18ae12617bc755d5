// SPDX-License-Identifier: Apache-2.0
#include "core/machine/rapl.hpp"

#include <catch2/catch.hpp>

#include "d5/core/files/atomic_file.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;

namespace {

/// A folder as Linux shows it.
struct Powercap {
  testing::TemporaryFolder folder;

  void zone(const std::string& zone, const std::string& name, std::int64_t microjoules) {
    std::filesystem::create_directory(folder / zone);
    write_file(folder / (zone + "/name"), name + "\n");
    write_file(folder / (zone + "/max_energy_range_uj"), "1000000\n");
    write_file(folder / (zone + "/energy_uj"), std::to_string(microjoules) + "\n");
  }
};

}  // namespace

TEST_CASE("the energy of all packages is summed, without their parts and the platform") {
  Powercap machine;
  machine.zone("intel-rapl:0", "package-0", 100'000);
  machine.zone("intel-rapl:0:0", "core", 100'000);
  machine.zone("intel-rapl:1", "package-1", 200'000);
  machine.zone("intel-rapl:2", "psys", 300'000);
  detail::Rapl counters(machine.folder.path());
  CHECK(counters.absence().empty());
  CHECK(counters.joules() == 0);
  machine.zone("intel-rapl:0", "package-0", 400'000);
  machine.zone("intel-rapl:0:0", "core", 300'000);
  machine.zone("intel-rapl:1", "package-1", 250'000);
  machine.zone("intel-rapl:2", "psys", 900'000);
  CHECK(counters.joules() == Approx(0.35));
}

TEST_CASE("counters that begin again at zero are followed") {
  Powercap machine;
  machine.zone("intel-rapl:0", "package-0", 900'000);
  detail::Rapl counters(machine.folder.path());
  machine.zone("intel-rapl:0", "package-0", 100'000);
  CHECK(counters.joules() == Approx(0.2));
  machine.zone("intel-rapl:0", "package-0", 50'000);
  CHECK(counters.joules() == Approx(1.15));
}

TEST_CASE("missing counters are reported") {
  const Powercap machine;
  detail::Rapl counters(machine.folder.path());
  CHECK_THAT(counters.absence(), Catch::Contains("no RAPL counters"));
  CHECK(counters.joules() == 0);
}
