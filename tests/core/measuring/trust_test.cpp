// SPDX-License-Identifier: Apache-2.0
#include "core/measuring/trust.hpp"

#include <catch2/catch.hpp>

#include "tests/busy_processors.hpp"
#include "tests/core/subjects.hpp"

using namespace d5;
using testing::subject;
using testing::wait;

namespace {

Measurement with_samples(std::vector<double> samples) {
  Measurement result;
  result.samples = std::move(samples);
  return result;
}

}  // namespace

TEST_CASE("too few samples are kept and mistrusted") {
  const auto few = measure({subject("s", [] { wait(1e-5); })}, {"time"}, {.samples = 7});
  CHECK(few.at(0).samples.size() == 7);
  CHECK(few.at(0).status == Status::mistrusted);
  CHECK_THAT(few.at(0).reason, Catch::Contains("7 samples, fewer than the 30"));
  const auto late =
      measure({subject("s", [] { wait(0.02); })}, {"time"}, {.warmup = 0, .most_seconds = 0.05});
  CHECK(late.at(0).samples.size() >= 1);
  CHECK(late.at(0).samples.size() < 4);
  CHECK(late.at(0).status == Status::mistrusted);
}

TEST_CASE("samples that drift are mistrusted, samples that only scatter are not") {
  std::vector<double> steady, drifting;
  for (int i = 0; i < 30; ++i) {
    steady.push_back(1 + 0.3 * ((i * 7) % 10));
    drifting.push_back(1 + 0.01 * i);
  }
  Measurement result = with_samples(steady);
  detail::judge_samples(result, Metric::kAsAsked);
  CHECK(result.status == Status::passed);
  result = with_samples(drifting);
  detail::judge_samples(result, Metric::kAsAsked);
  CHECK(result.status == Status::mistrusted);
  // Medians 1.07 and 1.22 of the halves.
  CHECK(result.reason == "the samples drift: the second half is 14% higher than the first");
  result = with_samples(std::vector<double>(30, 0.0));
  detail::judge_samples(result, Metric::kAsAsked);
  CHECK(result.status == Status::passed);
}

TEST_CASE("a time is mistrusted where d5's threads had to share processors with other work") {
  const auto judged = [](double others, int own) {
    Measurement result;
    detail::judge_other_work(result, others, own, 4);
    return result.status;
  };
  CHECK(judged(0.1, 4) == Status::passed);
  CHECK(judged(2.9, 1) == Status::passed);
  CHECK(judged(1.5, 3) == Status::mistrusted);
  CHECK(judged(3.9, 1) == Status::mistrusted);
  CHECK(judged(0.1, 8) == Status::passed);  // more threads than processors are the user's own wish
}

TEST_CASE("the engine notices other processes at work") {
  const testing::BusyProcessors others;
  const auto times = measure({subject("s", [] { wait(0.005); })}, {"time"},
                             {.samples = 60, .warmup = 0, .seconds_per_sample = 0});
  CHECK(times[0].status == Status::mistrusted);
  CHECK_THAT(times[0].reason, Catch::Contains("other work kept"));
}

TEST_CASE("mistrust adds reasons and never hides a failure") {
  Measurement result;
  mistrust(result, "a");
  mistrust(result, "b");
  CHECK(result.reason == "a; b");
  result.status = Status::failed;
  mistrust(result, "c");
  CHECK(result.status == Status::failed);
  CHECK(result.reason == "a; b");
}
