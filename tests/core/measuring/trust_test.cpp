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
  CHECK(detail::unsteadiness(with_samples(steady), Metric::kAsAsked).empty());
  // Medians 1.07 and 1.22 of the halves.
  CHECK(
      detail::unsteadiness(with_samples(drifting), Metric::kAsAsked) ==
      std::vector<std::string>{"the samples drift: the second half is 14% higher than the first"});
  CHECK(detail::unsteadiness(with_samples(drifting), 1).empty());  // no repetitions of each other
  CHECK(detail::unsteadiness(with_samples(std::vector<double>(30, 0.0)), 0).empty());
}

TEST_CASE("times and rates of two modes are mistrusted, with how many samples each has") {
  Measurement times, rates;
  times.quantity = Quantity::time;
  times.unit = "s";
  rates.quantity = Quantity::rate;
  rates.unit = "flop/s";
  for (int i = 0; i < 30; ++i) {
    const bool alone = i % 3 > 0;
    times.samples.push_back((alone ? 5.8e-6 : 217e-6) * (1 + 0.001 * (i % 7)));
    rates.samples.push_back(1 / times.samples.back());
  }
  detail::judge_moment(times, Metric::kAsAsked, {});
  CHECK(times.status == Status::mistrusted);
  CHECK_THAT(times.reason,
             Catch::Contains("two modes: 33% of them are around 218") && Catch::Contains("5.8"));
  detail::judge_moment(rates, Metric::kAsAsked, {});
  CHECK(rates.status == Status::mistrusted);
  Measurement errors = times;
  errors.quantity = Quantity::error;
  errors.status = Status::passed;
  detail::judge_moment(errors, Metric::kAsAsked, {});
  CHECK(errors.status == Status::passed);
}

namespace {

/// A quiet machine of two processors, of which d5 uses both.
detail::MachineEvidence quiet() {
  return {.own_threads = 2,
          .processors = 2,
          .waited = {.tells = detail::SchedulerReading::Tells::waits,
                     .wall_seconds = 0.003,
                     .waited_seconds = 1e-5},
          .others = 0.02,
          .stolen = 0.0,
          .speeds = {1.0e10, 1.01e10, 0.99e10},
          .best_speed = 1.02e10};
}

std::string reasons_of(const detail::MachineEvidence& seen) {
  std::string all;
  for (const auto& reason : detail::disturbances(seen)) all += reason + "; ";
  return all;
}

}  // namespace

TEST_CASE("a quiet machine gives no reason to mistrust, and neither does one that tells nothing") {
  CHECK(reasons_of(quiet()).empty());
  CHECK(reasons_of({}).empty());
}

TEST_CASE("threads that waited for other work make times doubtful, steady or not") {
  auto seen = quiet();
  // Two threads on one processor, the other one taken by a loop: 0.1 ms of each 0.217 ms.
  seen.waited.waited_seconds = 0.46 * seen.waited.wall_seconds;
  seen.others = 1.2;
  CHECK_THAT(reasons_of(seen), Catch::Contains("waited for a processor, together for 46% of"));
  seen.others = {};  // nobody can say that they waited for each other
  CHECK_THAT(reasons_of(seen), Catch::Contains("waited for a processor, together for 46% of"));
  // A framework's own threads, more than there are processors, on a machine without other work.
  seen.others = 0.1;
  CHECK(reasons_of(seen).empty());
  seen.others = 1.2;
  seen.waited.waited_seconds = 0.04 * seen.waited.wall_seconds;
  seen.own_threads = 1;
  seen.processors = 4;
  CHECK(reasons_of(seen).empty());
}

TEST_CASE("a processor that the hypervisor takes makes times doubtful") {
  auto seen = quiet();
  seen.stolen = 0.3;
  CHECK_THAT(reasons_of(seen), Catch::Contains("the hypervisor took 0.3 of 2 processors"));
}

TEST_CASE("a processor that changes its speed, or is slower than it can be, is reported") {
  auto seen = quiet();
  seen.speeds = {1.0e10, 0.8e10, 1.0e10};
  CHECK_THAT(reasons_of(seen), Catch::Contains("it was down to 80% of its fastest"));
  seen.speeds = {0.7e10, 0.7e10, 0.71e10};
  CHECK_THAT(reasons_of(seen), Catch::Contains("at 69% of its highest known speed"));
  seen.best_speed = 0;  // never seen before
  CHECK(reasons_of(seen).empty());
}

TEST_CASE("other work changes times, rates and energy, and nothing else") {
  auto seen = quiet();
  seen.others = 2;
  for (const Quantity quantity : {Quantity::time, Quantity::rate, Quantity::energy}) {
    Measurement result = with_samples({1});
    result.quantity = quantity;
    detail::judge_moment(result, 1, seen);
    CHECK(result.status == Status::mistrusted);
  }
  for (const Quantity quantity : {Quantity::error, Quantity::count, Quantity::bytes}) {
    Measurement result = with_samples({1});
    result.quantity = quantity;
    detail::judge_moment(result, 1, seen);
    CHECK(result.status == Status::passed);
  }
}

TEST_CASE("a ratio stands where other work met both sides alike") {
  Measurement ratio = with_samples(std::vector<double>(30, 1.057));
  ratio.quantity = Quantity::ratio;
  auto one = quiet(), other = quiet();
  one.others = other.others = 3;
  one.waited.waited_seconds = 0.5 * one.waited.wall_seconds;
  other.waited.waited_seconds = 0.4 * other.waited.wall_seconds;
  detail::judge_shared_moment(ratio, one, other);
  CHECK(ratio.status == Status::passed);
  // One computes on two threads that wait for each other, the other one on one.
  other.waited.waited_seconds = 0.02 * other.waited.wall_seconds;
  detail::judge_shared_moment(ratio, one, other);
  CHECK(ratio.status == Status::mistrusted);
  CHECK_THAT(ratio.reason, Catch::Contains("50% of the time, the other's 2%"));
}

TEST_CASE("a ratio that drifts, or has two modes, is mistrusted itself") {
  Measurement ratio;
  ratio.quantity = Quantity::ratio;
  ratio.unit = "1";
  for (int i = 0; i < 30; ++i) ratio.samples.push_back(i < 15 ? 1.0 + 0.001 * i : 1.5);
  detail::judge_shared_moment(ratio, quiet(), quiet());
  CHECK_THAT(ratio.reason, Catch::Contains("drift"));
}

TEST_CASE("a time is mistrusted where d5's threads had to share processors with other work") {
  const auto judged = [](double others, int own) {
    return detail::disturbance(others, own, 4).empty() ? Status::passed : Status::mistrusted;
  };
  CHECK(judged(0.1, 4) == Status::passed);
  CHECK(judged(2.9, 1) == Status::passed);
  CHECK(judged(1.5, 3) == Status::mistrusted);
  CHECK(judged(3.9, 1) == Status::mistrusted);
  CHECK(judged(0.1, 8) == Status::passed);  // more threads than processors are the user's own wish
}

/// Whether a reason names other work. A process that may use some of the processors alone sees it
/// in its waits, not in the sum over all.
bool tells_of_other_work(const std::string& reason) {
  return reason.find("other work kept") != reason.npos ||
         reason.find("waited for a processor") != reason.npos;
}

TEST_CASE("the engine notices other processes at work") {
  const testing::BusyProcessors others;
  const auto times = measure({subject("s", [] { wait(0.005); })}, {"time"},
                             {.samples = 60, .warmup = 0, .seconds_per_sample = 0});
  CHECK(times[0].status == Status::mistrusted);
  CHECK(tells_of_other_work(times[0].reason));
}

TEST_CASE("a run too short for the system's counters is looked at longer among other processes") {
  const testing::BusyProcessors others;
  CHECK(detail::OtherWork::ready_now() > 0);
  // 3 ms of samples, which may lie in one turn of the scheduler.
  const auto times = measure({subject("s", [] { wait(1e-4); })}, {"time"}, {.warmup = 0});
  CHECK(times[0].samples.size() == 30);
  CHECK(times[0].status == Status::mistrusted);
  CHECK(tells_of_other_work(times[0].reason));
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
