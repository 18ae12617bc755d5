// SPDX-License-Identifier: Apache-2.0
// A time of a training step counts if outputs, gradients and the update were right.
#include <catch2/catch.hpp>

#include "d5/level2_training/training_step_bench.hpp"
#include "tests/cache_folder.hpp"
#include "tests/level1_network/planted_faults.hpp"

using namespace d5;
using Catch::Contains;

namespace {

std::vector<Measurement> bench(const std::vector<std::string>& words) {
  planted::use_framework();
  return bench_training_step("lenet", {.frameworks = words,
                                       .sizes = {.batch = 2},
                                       .metrics = {"time"},
                                       .measuring = {.samples = 3}});
}

}  // namespace

TEST_CASE("a training step is judged by its outputs, its gradients and one update") {
  const testing::OwnCacheFolder cache;
  const auto records = bench({"reference", "planted:honest", "planted:wrong-gradient"});
  for (const auto& record : records) {
    CAPTURE(record.framework, record.metric, record.reason);
    const bool is_wrong = record.framework == "planted:wrong-gradient";
    CHECK(record.conditions.at("answers") == (is_wrong ? "wrong" : "right"));
    if (!is_wrong || record.metric != "time") continue;
    CHECK(record.status == Status::failed);
    CHECK_THAT(record.reason, Contains("gradient of "));
    CHECK_THAT(record.reason, Contains("tensors more"));  // and what the update made of it
  }
}

TEST_CASE("being judged changes no parameter") {
  const testing::OwnCacheFolder cache;
  planted::use_framework();
  const Subject subject = training_step_subject("lenet", "planted:honest");
  REQUIRE(subject.judge);
  // Judged twice, the second time by what was kept of the first: a changed weight would show.
  CHECK(subject.judge(Subject::Moment::before).is == Verdict::Is::right);
  CHECK(subject.judge(Subject::Moment::after).is == Verdict::Is::right);
}
