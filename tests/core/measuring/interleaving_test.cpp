// SPDX-License-Identifier: Apache-2.0
// Several subjects in turn.
#include <algorithm>
#include <catch2/catch.hpp>

#include "core/clocks/virtual_clock.hpp"
#include "d5/core/errors/error.hpp"
#include "tests/core/subjects.hpp"

using namespace d5;
using testing::subject;
using testing::wait;

TEST_CASE("interleaved subjects take turns in random order, each once a round") {
  const auto order_of = [](std::uint64_t seed) {
    std::string calls, turns;
    const auto end_turn = [&] {
      if (turns.empty()) calls.erase(0, 3);  // one call each to calibrate
      // A turn is some untimed calls and a sample of the same subject.
      CHECK(calls.size() >= 2);
      CHECK(calls == std::string(calls.size(), calls.back()));
      turns += calls.back();
      calls.clear();
    };
    const auto called = [&](char name) {
      return subject(std::string(1, name), [&calls, name] { calls += name; });
    };
    const auto results =
        measure({called('a'), called('b'), called('c')}, {"time"},
                {.warmup = 0, .seconds_per_sample = 0, .seed = seed, .on_sample = end_turn});
    REQUIRE(results.size() == 3);
    CHECK(results[1].subject == "b");
    CHECK(results[1].samples.size() == 30);
    CHECK(results[1].conditions.contains("interleaved"));
    REQUIRE(turns.size() == 90);
    return turns;
  };
  const std::string order = order_of(1);
  int different = 0;
  for (std::size_t round = 0; round < 30; ++round) {
    std::string turn = order.substr(round * 3, 3);
    different += turn != order.substr(0, 3);
    std::sort(turn.begin(), turn.end());
    CHECK(turn == "abc");
  }
  CHECK(different > 10);
  CHECK(order_of(1) == order);
  CHECK(order_of(2) != order);
}

TEST_CASE("one subject's failure leaves the others measured") {
  int calls = 0;
  const auto results =
      measure({subject("good", [] { wait(1e-5); }), subject("bad",
                                                            [&] {
                                                              if (++calls > 8)
                                                                throw ValueError("worn out");
                                                            })},
              {"time"}, {.seconds_per_sample = 0});
  CHECK(results.at(0).samples.size() == 30);
  CHECK(results.at(1).status == Status::failed);
  CHECK(results.at(1).reason == "worn out");
}

TEST_CASE("an interleaved comparison finds a true ratio") {
  const auto results =
      measure({subject("slow", [] { wait(3e-4); }), subject("fast", [] { wait(1e-4); })});
  const Comparison comparison = compare(results.at(0).samples, results.at(1).samples);
  CHECK(comparison.p_value < 1e-3);
  CHECK(comparison.ratio > 1.5);
}

TEST_CASE("every metric of every subject is interleaved") {
  int turns = 0;
  const auto results = measure(
      {subject("a", [] { wait(1e-5); }), subject("b", [] { wait(1e-5); })}, {"time", "cpu_time"},
      {.warmup = 0, .seconds_per_sample = 0, .on_sample = [&] { ++turns; }});
  CHECK(results.size() == 4);
  // Had one metric been measured after the other, there were a hundred and twenty.
  CHECK(turns == 60);
  for (const auto& result : results) CHECK(result.samples.size() == 30);
}

TEST_CASE("subjects side by side have ratios to the first that can run") {
  const Subject absent = subject_or_refusal({.subject = "absent", .framework = "none"},
                                            []() -> Subject { throw Unsupported("no way"); });
  Subject slow = subject("s", [] { wait(2e-4); }), fast = subject("s", [] { wait(1e-4); });
  slow.record.framework = "slow";
  fast.record.framework = "fast";
  const auto results = measure_side_by_side({absent, slow, fast});
  REQUIRE(results.size() == 4);
  CHECK(results[0].status == Status::unsupported);
  CHECK(results[0].reason == "no way");
  const Measurement& ratio = results[3];
  CHECK(ratio.metric == "time_ratio");
  CHECK(ratio.quantity == Quantity::ratio);
  CHECK(ratio.conditions.at("base") == "slow");
  for (std::size_t i = 0; i < 30; ++i) {
    CHECK(ratio.samples[i] == results[2].samples[i] / results[1].samples[i]);
  }
  CHECK_THROWS_AS(subject_or_refusal({}, []() -> Subject { throw NotFound("no such framework"); }),
                  NotFound);
}

namespace {

double virtual_seconds = 0;

/// While it lives, this thread's clock is `virtual_seconds`, and a reading takes 0.1 µs.
struct VirtualTime {
  VirtualTime() {
    virtual_seconds = 0;
    detail::virtual_clock_of_thread() = [] { return virtual_seconds += 1e-7; };
  }
  ~VirtualTime() { detail::virtual_clock_of_thread() = nullptr; }
};

}  // namespace

TEST_CASE("interleaving excuses what met both sides alike, and nothing else") {
  const VirtualTime time;
  int turns = 0;
  // Both take twice as long from the middle on: as a clock that is lowered does to them.
  const auto taking = [&](std::string name, double seconds) {
    return subject(std::move(name),
                   [&turns, seconds] { virtual_seconds += turns < 30 ? seconds : 2 * seconds; });
  };
  const std::vector<Subject> both{taking("a", 1e-3), taking("b", 1.057e-3)};
  const auto results = measure_side_by_side(both, {"time"}, {.on_sample = [&turns] { ++turns; }});
  REQUIRE(results.size() == 3);
  for (const std::size_t time_of : {0, 1}) {
    CHECK(results[time_of].status == Status::mistrusted);
    CHECK_THAT(results[time_of].reason, Catch::Contains("the samples drift"));
  }
  CHECK(results[2].metric == "time_ratio");
  CHECK(results[2].status == Status::passed);
  CHECK(estimate(results[2]).value == Approx(1.057).epsilon(1e-3));

  // Too few samples are no excuse.
  turns = 0;
  const auto few = measure_side_by_side(both, {"time"}, {.samples = 5});
  CHECK(few[2].status == Status::mistrusted);
  CHECK_THAT(few[2].reason, Catch::Contains("5 samples, fewer than the 30"));
}
