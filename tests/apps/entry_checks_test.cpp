// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "d5/level3_distributed/communicator/communicator.hpp"
#include "tests/apps/program_run.hpp"

using Catch::Contains;
using d5::transport;
using d5::testing::ProgramRun;
using d5::testing::run_d5;

namespace {

std::set<std::string> subjects_of(const ProgramRun& run) {
  std::set<std::string> subjects;
  const auto results = nlohmann::json::parse(run.out);
  for (const auto& record : results.at("measurements")) {
    subjects.insert(record.at("subject"));
  }
  return subjects;
}

}  // namespace

TEST_CASE("all entries are checked without a name, those of a loaded library among them") {
  const std::string load = std::string(" --format json --load ") + D5_PARTS;
  const auto samplers = run_d5("sampler check" + load);
  CHECK(samplers.status == 0);
  std::set<std::string> expected;
  for (const auto& row : nlohmann::json::parse(run_d5("list samplers" + load).out)) {
    expected.insert("sampler " + row.at("name").get<std::string>());
  }
  CHECK(subjects_of(samplers) == expected);
  CHECK(expected.contains("sampler loaded-sampler"));
  CHECK_THAT(samplers.out, Contains("--load"));
  CHECK(run_d5("sampler check loaded-sampler").status == 2);
  const auto all_reduces = run_d5("all-reduce check" + load);
  CHECK(all_reduces.status == 0);
  CHECK(subjects_of(all_reduces).contains("all-reduce loaded-all-reduce"));
}

TEST_CASE("a loaded optimizer is judged by the one that it should equal") {
  const std::string check = "optimizer check loaded-optimizer --steps 3 --load ";
  const auto same = run_d5(check + D5_PARTS + " --against momentum");
  CHECK(same.status == 0);
  CHECK_THAT(same.out, Contains("trajectory_difference") && Contains("passed"));
  const auto other = run_d5(check + D5_PARTS + " --against adam");
  CHECK(other.status == 1);
  CHECK_THAT(other.out, Contains("the parameters differ"));
}

TEST_CASE("settings of one entry that are out of range do not hide the others") {
  const auto run = run_d5("sampler check shuffle:batch_size=0 ordered");
  CHECK(run.status == 1);
  CHECK_THAT(run.out, Contains("batch_size") && Contains("sampler_coverage"));
  CHECK(run_d5("sampler check shuffle:batch_size=0").status == 2);
}

TEST_CASE("collectives are checked on several ranks, the others on one") {
  if (!transport().present) return;
  const std::string launcher = "mpirun --oversubscribe -np 2";
  for (const std::string kind : {"all-reduce", "broadcast", "reduce-scatter", "all-gather"}) {
    INFO(kind);
    const auto run = run_d5(kind + " check --format json", launcher);
    CHECK(run.status == 0);
    const auto records = nlohmann::json::parse(run.out).at("measurements");
    CHECK(std::ranges::all_of(records, [](const auto& record) {
      return record.at("status") == "passed" &&
             record.at("conditions").at("identity").at("ranks") == 2;
    }));
    CHECK(subjects_of(run).contains(kind + " mpi"));
    CHECK(subjects_of(run).size() > 3);
  }
  const auto sampler = run_d5("sampler check", launcher);
  CHECK(sampler.status == 2);
  CHECK_THAT(sampler.err, Contains("'d5 sampler check' is of one process") &&
                              Contains("d5 train, ") && Contains("d5 all-reduce check"));
}
