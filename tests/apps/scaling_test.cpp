// SPDX-License-Identifier: Apache-2.0
// Commands that start ranks themselves.
#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "d5/core/results/results.hpp"
#include "d5/level3_distributed/communicator/communicator.hpp"
#include "tests/apps/training_job.hpp"

using namespace d5;
using testing::content_of, testing::kMpirun, testing::run_d5, testing::TrainingJob;

TEST_CASE("a training that starts its own ranks is that of mpirun, to the bit") {
  if (!transport().present) return;
  const TrainingJob job;
  const std::string ring = " --distributed consistent_decentralized:all_reduce=ring";
  const auto losses = [&](const std::string& options, const std::string& launcher) {
    const auto run = run_d5(job.train("out.json") + ring + options, launcher);
    INFO(run.err);
    REQUIRE(run.status == 0);
    for (const auto& record : read_results(job / "out.json").measurements) {
      CHECK(record.conditions.at("ranks") == "2");
      if (record.metric == "loss") return record.samples;
    }
    return std::vector<double>{};
  };
  const auto by_mpirun = losses("", kMpirun);
  CHECK(by_mpirun.size() == 6);
  CHECK(losses(" --ranks 2", "") == by_mpirun);
}

TEST_CASE("no ranks, and ranks that would start ranks, are a wrong use") {
  if (!transport().present) return;
  const TrainingJob job;
  CHECK(run_d5(job.train("no.json") + " --ranks 0").status == 2);
  const auto nested = run_d5("scale '" + job.recipe() + "' --ranks 1,2", kMpirun);
  CHECK(nested.status == 2);
  CHECK_THAT(nested.err, Catch::Contains("leave out mpirun"));
}

TEST_CASE("a study of scaling trains every point, and draws throughput over ranks") {
  if (!transport().present) return;
  const TrainingJob job;
  const auto run =
      run_d5("scale '" + job.recipe() + "' --quiet --ranks 1,2 --mode strong,weak" +
             " --repeat 1 --out " + (job / "runs.json") + " --pictures " + (job / "pictures"));
  INFO(run.err);
  CHECK(run.status == 0);
  std::map<std::string, double> throughput, efficiency;  // by scaling; "1" for one rank
  for (const auto& record : read_results(job / "runs.json").measurements) {
    const auto& conditions = record.conditions;
    if (!conditions.contains("ranks")) continue;
    const std::string point = conditions.at("ranks") == "1" ? "1" : conditions.at("scaling").text();
    if (record.metric == "throughput") throughput[point] = record.samples.at(0);
    if (record.metric == "efficiency") efficiency[point] = record.samples.at(0);
  }
  REQUIRE(throughput.size() == 3);
  REQUIRE(efficiency.size() == 2);
  for (const auto& [scaling, share] : efficiency) {
    CHECK(share == Approx(throughput.at(scaling) / (2 * throughput.at("1"))));
  }
  CHECK_THAT(content_of(job / "pictures/scaling.svg"), Catch::Contains("</svg>"));
}
