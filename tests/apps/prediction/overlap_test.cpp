// SPDX-License-Identifier: Apache-2.0
// The commands of what computation and communication take from each other.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <map>
#include <string>

#include "d5/core/results/results.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"
#include "tests/apps/training_job.hpp"

using namespace d5;
using testing::kMpirun, testing::run_d5, testing::TemporaryFolder;

TEST_CASE("overlap map prints, writes and draws both slowdowns, and is compared with itself") {
  if (!transport().present) return;
  const TemporaryFolder folder;
  const std::string out = folder / "map.json";
  const auto run = run_d5(
      "overlap map 'Relu 1x64x32x32' --resources threads=0,threads=1:waiting=sleep --pairs 8 "
      "--budget 1ms --threads 1 --bytes 64KiB --quiet --out " +
          out + " --pictures " + folder / "p",
      kMpirun);
  INFO(run.err);
  REQUIRE(run.status == 0);
  CHECK_THAT(run.out, Catch::Contains("Relu 1x64x32x32 forward"));
  CHECK(std::filesystem::exists(folder / "p/kernel-slowdown.svg"));
  const auto records = read_results(out).measurements;
  REQUIRE(records.size() == 8);  // forward and backward, two resources, both ways
  for (const auto& record : records) {
    CHECK(record.samples.size() == 6);  // the fewest, for the time was over
    CHECK_THAT(record.reason, Catch::Contains("6 of 8 pairs"));
  }
  const auto compared = run_d5("overlap map --compare " + out + " " + out);
  CHECK(compared.status == 0);
  CHECK_THAT(compared.err, Catch::Contains("100.0% of 8 cells"));
}

TEST_CASE("a map's rounds have ranks of their own, and are one cell in its table") {
  if (!transport().present) return;
  const TemporaryFolder folder;
  const std::string line =
      "overlap map 'Relu 64' --resources threads=0 --pairs 2 --rounds 2 --threads 1 --bytes 4KiB "
      "--quiet ";
  const auto run = run_d5(line + "--out " + (folder / "map.json"));
  INFO(run.err);
  REQUIRE(run.status == 0);
  std::map<std::string, int> records;
  for (const auto& record : read_results(folder / "map.json").measurements) {
    ++records[condition_of(record, "round")];
    CHECK(record.samples.size() == 1);
  }
  // Forward and backward, both ways.
  CHECK(records == std::map<std::string, int>{{"1", 4}, {"2", 4}});
  CHECK(std::ranges::count(run.out, '\n') == 4);
  const auto launched = run_d5(line, kMpirun);
  CHECK(launched.status == 2);
  CHECK_THAT(launched.err, Catch::Contains("leave mpirun out"));
  const auto wrong = run_d5("overlap map --model relux --quiet");
  CHECK(wrong.status == 2);
  CHECK_THAT(wrong.err, Catch::Contains("relux"));
}

TEST_CASE("overlap search goes on with the rounds that it has, and report reads it") {
  if (!transport().present) return;
  const TemporaryFolder folder;
  const std::string out = folder / "search.json";
  const std::string line =
      "overlap search --models lenet --batch 2 --threads 1 --steps 1 --resources "
      "default,threads=1:waiting=sleep --buckets 64KiB --out " +
      out;
  const auto first = run_d5(line + " --rounds 6 --quiet", kMpirun);
  INFO(first.err);
  REQUIRE(first.status == 0);
  CHECK_THAT(first.out, Catch::Contains("one setting for all"));
  const auto again = run_d5(line + " --rounds 7 --resume", kMpirun);
  INFO(again.err);
  REQUIRE(again.status == 0);
  CHECK_THAT(again.err, Catch::Contains("round 6 of 7") && !Catch::Contains("round 5 of 7"));
  for (const auto& record : read_results(out).measurements) {
    CHECK(record.subject == "lenet");
    CHECK_THAT(record.command, Catch::Contains("d5 overlap search --models lenet"));
    CHECK(record.samples.size() == (condition_of(record, "round").empty() ? 7 : 1));
  }
  const auto report = run_d5("overlap report " + out);
  CHECK(report.status == 0);
  CHECK_THAT(report.out, Catch::Contains("lenet"));
}

TEST_CASE("overlap commands refuse what cannot be") {
  CHECK(run_d5("overlap map --threads 1 --ranks 1").status == 2);  // a rank alone
  CHECK(run_d5("overlap search --models lenet --resume").status == 2);
  CHECK(run_d5("overlap report no-such-file.csv").status == 2);
  CHECK_THAT(run_d5("overlap map --resources cores=100000").err, Catch::Contains("does not exist"));
  CHECK_THAT(run_d5("overlap map --resources cores=1", "taskset -c 0").err,
             Catch::Contains("core 1 "));  // it may not be used, or is not there
  CHECK_THAT(run_d5("overlap map --resources chunk=0B").err,
             Catch::Contains("not a number of bytes"));
}
