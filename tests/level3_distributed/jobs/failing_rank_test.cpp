// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <string>

#include "tests/level3_distributed/jobs/job.hpp"

namespace {

Job run(const std::string& way) { return run_ranks(3, D5_FAILING_RANK " " + way); }

}  // namespace

TEST_CASE("ranks that all end well end the job with status 0") {
  const Job job = run("none");
  INFO(job.output);
  CHECK(job.status == 0);
  for (const char* rank : {"rank 0", "rank 1", "rank 2"}) {
    CHECK_THAT(job.output, Catch::Contains(std::string(rank) + " came to the end"));
  }
}

TEST_CASE("a rank that fails ends the job within 10 seconds, with a message that names it") {
  const auto [way, message] = GENERATE(table<std::string, std::string>({
      {"throws", "rank 1: the loss is not a number"},
      {"aborts", "rank 1: gave up"},
      {"exits", "rank 1: exited with status 3 while others were at work"},
      {"dies", "rank 1 with PID"},  // a killed rank says nothing: these are mpirun's words
  }));
  const Job job = run(way);
  INFO(way << ": " << job.output);
  CHECK(job.status != 0);
  CHECK(job.status != 124);
  CHECK(job.seconds < 10);
  CHECK_THAT(job.output, Catch::Contains(message));
  CHECK_THAT(job.output, !Catch::Contains("came to the end"));
}
