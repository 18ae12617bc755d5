// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/overlap/overlap_account.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/prediction/overlap/overlap_analysis.hpp"
#include "d5/prediction/overlap/overlap_search.hpp"

namespace d5 {
namespace {

constexpr std::int64_t kMs = 1'000'000;

/// A kernel of `kernel` ns from 0 on, beside a message of `message` ns that begins at `offset`.
OverlapTimes made_up(std::int64_t kernel, std::int64_t message, std::int64_t offset) {
  const std::int64_t arrived = offset + message, end = std::max(kernel, arrived);
  OverlapTimes times{.step = {0, end}, .busy = {0, end}, .calls = {{offset, arrived}}};
  if (arrived > kernel) times.waits.push_back({std::max(kernel, offset), arrived});
  return times;
}

TEST_CASE("a kernel beside a message is cut as their lengths say, at ten offsets") {
  const std::int64_t kernel = 20 * kMs, message = 10 * kMs;
  for (int i = 0; i < 10; ++i) {
    const std::int64_t offset = 2 * i * kMs;
    CAPTURE(i);
    const StepAccount account = account_of(made_up(kernel, message, offset));
    const double overlap = double(std::min(message, kernel - offset)) * 1e-9;
    const double after = double(std::max<std::int64_t>(0, offset + message - kernel)) * 1e-9;
    CHECK(account.overlap == Approx(overlap));
    CHECK(account.compute == Approx(0.020 - overlap));
    CHECK(account.communication == Approx(after).margin(1e-12));
    CHECK(account.idle == Approx(0).margin(1e-12));
    CHECK(account.step() == Approx(0.020 + after));
  }
}

TEST_CASE("what lies before computation is idle, and calls that overlap count once") {
  OverlapTimes times{.step = {0, 30}, .busy = {10, 30}, .calls = {{12, 20}, {15, 25}}};
  const StepAccount account = account_of(times);
  CHECK(account.idle == Approx(10e-9));
  CHECK(account.overlap == Approx(13e-9));
  CHECK(account.compute == Approx(7e-9));
  CHECK(account.communication == 0);
}

TEST_CASE("a recorder tells buckets by their call, and the parts sum to the step") {
  OverlapRecorder recorder;
  recorder.begin_step();
  recorder.begin_compute();
  const CommunicationInfo info{.id = 7,
                               .call = "all_reduce",
                               .group = {},
                               .asked_ns = 5,
                               .begun_ns = 5,
                               .label = "bucket 0"};
  recorder.before_call(info);
  CommunicationInfo inner = info;  // a call inside the algorithm
  inner.id = 8;
  recorder.before_call(inner);
  recorder.after_call(inner);
  recorder.after_call(info);
  recorder.before_wait(info);
  CommunicationInfo done = info;
  done.ended_ns = 9;
  recorder.complete(done);
  recorder.after_wait(info);
  recorder.end_step();
  REQUIRE(recorder.steps().size() == 1);
  const StepAccount& step = recorder.steps().front();
  REQUIRE(step.buckets.size() == 1);
  CHECK(step.buckets.front().label == "bucket 0");
  CHECK(step.buckets.front().ended_ns == 9);
  CHECK(step.buckets.front().exposed_ns > 0);
  CHECK(double(step.buckets.front().exposed_ns) * 1e-9 == Approx(step.communication));
  CHECK(account_table(recorder.steps()).size() == 1);
  CHECK(bucket_table(step, 0).rows().front()[0] == "bucket 0");
}

Measurement step_times(const std::string& candidate, std::vector<double> samples) {
  Measurement record{.subject = "lenet", .metric = "step_time", .unit = "s"};
  record.samples = std::move(samples);
  record.conditions = {{"candidate", identity(candidate)},
                       {"base", identity("default")},
                       {"batch", identity(16)},
                       {"ranks", identity(2)}};
  return record;
}

TEST_CASE("a search's gain is of pairs, and no difference is one whose interval holds 1") {
  const std::vector<double> base{1, 2, 1, 2, 1, 2, 1, 2};  // a machine of varying speed
  std::vector<double> faster, wavering{1.1, 1.9, 0.9, 2.1, 1.1, 1.9, 0.9, 2.1};
  for (const double t : base) faster.push_back(t / 1.25);
  const OverlapGrid grid = overlap_grid_of(
      {step_times("default", base), step_times("a", faster), step_times("b", wavering)});
  const auto best = best_settings(grid);
  REQUIRE(best.size() == 1);
  CHECK(best.front().setting == "a");
  CHECK(best.front().gain.value == Approx(1.25));
  CHECK(best.front().differs);
  const auto undecided =
      best_settings(overlap_grid_of({step_times("default", base), step_times("b", wavering)}));
  CHECK_FALSE(undecided.front().differs);
  CHECK_THROWS_AS(overlap_grid_of({}), ValueError);
}

TEST_CASE("a search without models, or with a resource that cannot be, is refused") {
  CHECK_THROWS_AS(overlap_search({}, *world()), ValueError);
  CHECK_THROWS_AS(
      overlap_search({.models = {"lenet"}, .candidates = {{.resources = "chunk=none"}}}, *world()),
      ValueError);
}

}  // namespace
}  // namespace d5
