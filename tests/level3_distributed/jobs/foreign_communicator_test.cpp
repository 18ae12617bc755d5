// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <string>

#include "tests/level3_distributed/jobs/job.hpp"

TEST_CASE("a program that starts MPI itself uses d5 on its own communicator, and ends MPI") {
  const int ranks = GENERATE(1, 2, 4);
  const std::string beside = GENERATE("", " beside_world");
  const Job job = run_ranks(ranks, D5_FOREIGN_COMMUNICATOR + beside);
  INFO(ranks << " ranks" << beside << ": " << job.output);
  CHECK(job.status == 0);
  CHECK_THAT(job.output, !Catch::Contains("WRONG"));
  for (int rank = 0; rank < ranks; ++rank) {
    CHECK_THAT(job.output, Catch::Contains("rank " + std::to_string(rank) + " came to the end"));
  }
}
