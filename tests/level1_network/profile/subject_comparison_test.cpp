// SPDX-License-Identifier: Apache-2.0
#include "d5/level1_network/profile/subject_comparison.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"

using namespace d5;
using Catch::Contains;

namespace {

const MeasureOptions kShort{.samples = 3, .warmup = 0, .seconds_per_sample = 1e-6};

}  // namespace

TEST_CASE("two operators are run interleaved, and their times held against each other") {
  const auto both = compare_subjects("Relu 8", "Abs 8", {.measuring = kShort});
  CHECK(both.finding.answer == GateFinding::Answer::held);
  CHECK(both.records.front().subject == "Relu 8");
  CHECK(both.records.back().metric == "time_ratio");
  for (const auto& record : both.records) {
    CHECK(record.level == "operator");
    CHECK_THAT(record.command, Catch::StartsWith("d5 compare 'Relu 8' 'Abs 8' --framework "));
  }
}

TEST_CASE("networks take a batch, and a gate that noise hides is asked again") {
  int retries = 0;
  const auto both = compare_subjects("lenet", "lenet",
                                     {.batch = 2,
                                      .measuring = kShort,
                                      .fail_above = 1,
                                      .retries = 1,
                                      .before_retry = [&](const GateFinding&, int, int samples) {
                                        ++retries;
                                        CHECK(samples == 6);
                                      }});
  CHECK(both.records.front().level == "network");
  CHECK_THAT(both.records.front().command, Contains("--batch 2 --fail-above 1"));
  CHECK(retries == 1);  // three samples give no interval
}

TEST_CASE("a word that is neither an operator nor a network is refused with the nearest") {
  CHECK_THROWS_WITH(compare_subjects("Relu 2", "lenett"), Contains("did you mean lenet?"));
  CHECK_THROWS_AS(compare_subjects("Relu {n} for n=2,3", "Relu 2"), ValueError);
  CHECK_THROWS_AS(
      compare_subjects("Relu 2", "Relu 2", {.frameworks = {"reference", "torch", "onednn"}}),
      ValueError);
}
