// SPDX-License-Identifier: Apache-2.0
// A source that is not trusted, judged by the program.
#include <fstream>

#include "d5/core/results/results.hpp"
#include "tests/apps/program_run.hpp"

using namespace d5;
using Catch::Contains;
using d5::testing::run_d5;
using d5::testing::TemporaryFolder;

namespace {

std::string judged_source(const std::string& name) {
  const char* folder = std::getenv("D5_SOURCE_DIR");
  if (!folder) FAIL("D5_SOURCE_DIR is not set; run this test through ctest");
  return std::string(folder) + "/tests/level0_ops/judge/" + name + ".cpp";
}

}  // namespace

TEST_CASE("op judge times an honest source, and fails a cheat by name") {
  const TemporaryFolder folder;
  setenv("XDG_CACHE_HOME", (folder / "cache").c_str(), 1);
  const auto honest = run_d5("op judge " + judged_source("controls/plain") +
                             " --for 'MatMul {n}x4 4x5 for n=1,9' --samples 5 --threads 1 --out " +
                             (folder / "results.json"));
  INFO(honest.err);
  CHECK(honest.status == 0);
  const Results results = read_results(folder / "results.json");
  REQUIRE(results.measurements.size() == 2);
  CHECK(results.measurements.front().samples.size() == 5);
  const auto cheat = run_d5("op judge " + judged_source("cheats/output_unwritten") +
                            " --for 'MatMul 2x4 4x5' --threads 1");
  CHECK(cheat.status == 1);
  CHECK_THAT(cheat.out, Contains("output not written: 10 of 10 elements of output 0"));
}

TEST_CASE("op judge refuses what it cannot judge") {
  CHECK(run_d5("op judge no_such.cpp --for 'Relu 2'").status == 2);
  CHECK(run_d5("op judge " + judged_source("controls/plain")).status == 2);
  const auto given = run_d5("op judge " + judged_source("controls/plain") +
                            " --for 'MatMul 2x4 4x5' " + "--against no_such --threads 1");
  CHECK(given.status == 2);
  CHECK_THAT(given.err + given.out, Contains("no_such"));
  const TemporaryFolder folder;
  setenv("XDG_CACHE_HOME", (folder / "cache").c_str(), 1);
  std::ofstream(folder / "empty.cpp") << "int unused;\n";
  const auto empty = run_d5("op judge " + (folder / "empty.cpp") + " --for 'Relu 2' --threads 1");
  CHECK(empty.status != 0);
  CHECK_THAT(empty.err + empty.out, Contains("end the source with D5_OPERATOR"));
}
