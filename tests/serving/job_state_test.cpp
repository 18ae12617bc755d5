// SPDX-License-Identifier: Apache-2.0
#include "d5/serving/jobs/job_state.hpp"

#include <catch2/catch.hpp>
#include <string>

#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

TEST_CASE("states of a job read back by their names") {
  for (int i = 0; i <= int(JobState::quarantined); ++i) {
    CHECK(job_state(name_of(JobState(i))) == JobState(i));
  }
  CHECK_THROWS_AS(job_state("queud"), NotFound);
}

TEST_CASE("nothing follows what is over, and a job runs by way of its lease alone") {
  for (int i = 0; i <= int(JobState::quarantined); ++i) {
    for (int j = 0; j <= int(JobState::quarantined); ++j) {
      if (is_over(JobState(i))) CHECK_FALSE(may_follow(JobState(i), JobState(j)));
    }
  }
  CHECK(may_follow(JobState::queued, JobState::leased));
  CHECK_FALSE(may_follow(JobState::queued, JobState::running));
  CHECK(may_follow(JobState::leased, JobState::running));
  CHECK_FALSE(may_follow(JobState::leased, JobState::done));
  CHECK(may_follow(JobState::running, JobState::queued));
}

}  // namespace
}  // namespace d5
