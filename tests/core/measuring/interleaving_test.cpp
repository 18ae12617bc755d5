// SPDX-License-Identifier: Apache-2.0
// Several subjects in turn.
#include <algorithm>
#include <catch2/catch.hpp>

#include "d5/core/error.hpp"
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
