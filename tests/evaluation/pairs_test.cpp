// SPDX-License-Identifier: Apache-2.0
// Two systems asked in turns in virtual time, whose ratios are known.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/load/scenario.hpp"
#include "evaluation/scenario/paired_system.hpp"
#include "tests/evaluation/simulated_system.hpp"
#include "tests/evaluation/virtual_clockwork.hpp"

using namespace d5;
using detail::ClockworkOptions;
using detail::PairedSystem;

namespace {

std::map<std::string, Measurement> by_metric(const ScenarioResult& result) {
  std::map<std::string, Measurement> records;
  for (const Measurement& record : result.measurements) records[record.metric] = record;
  return records;
}

ScenarioResult run_pairs(SystemUnderTest& base, SystemUnderTest& subject, ScenarioOptions options,
                         const Settings& settings = {}) {
  PairedSystem pair({base, "A"}, {subject, "B"});
  return scenarios().at("pairs").make(settings)->run(pair, options);
}

ScenarioResult run_clockworks(const ClockworkOptions& base, const ClockworkOptions& subject,
                              std::uint64_t seed = 1, std::int64_t pairs = 60) {
  const auto clock = std::make_shared<VirtualLoadClock>();
  VirtualClockwork first(clock, base), second(clock, subject);
  return run_pairs(first, second, {.least_queries = pairs, .seed = seed, .clock = clock});
}

bool holds(const Measurement& record, double ratio) {
  const Interval interval = estimate(record).interval;
  return interval.low <= ratio && ratio <= interval.high;
}

/// Exponential gaps of mean 10 ms times `slower`.
ClockworkOptions random_gaps(double slower, std::uint64_t seed) {
  return {.first = 0.05 * slower,
          .gap = 0.01 * slower,
          .tokens = 20,
          .gaps = ClockworkOptions::Gaps::exponential,
          .seed = seed};
}

}  // namespace

TEST_CASE("pairs of equal systems have ratios of 1, and of one slower by a fifth 1.2") {
  const double slower = GENERATE(1.0, 1.2);
  const auto records =
      by_metric(run_clockworks({.first = 0.05, .gap = 0.01, .tokens = 8},
                               {.first = 0.05 * slower, .gap = 0.01 * slower, .tokens = 8}));
  REQUIRE(records.size() == 4);
  for (const char* metric : {"latency_ratio", "ttft_ratio", "itl_ratio", "tpot_ratio"}) {
    CAPTURE(metric, slower);
    const Measurement& record = records.at(metric);
    CHECK(record.status == Status::passed);
    CHECK(record.quantity == Quantity::ratio);
    CHECK(estimate(record).value == Approx(slower));
    CHECK(record.conditions.at("base") == "A");
    CHECK(record.conditions.at("pairs").number() == 60);
  }
  CHECK(records.at("ttft_ratio").conditions.at("base median").number() == Approx(0.05));
  CHECK(records.at("itl_ratio").conditions.at("median").number() == Approx(0.01 * slower));
}

TEST_CASE("the intervals of random gaps' ratios hold the truth as often as they say") {
  const double slower = GENERATE(1.0, 1.2);
  constexpr int kRuns = 60;
  int held_itl = 0, held_tpot = 0;
  for (int i = 0; i < kRuns; ++i) {
    const auto seed = std::uint64_t(100 + i);
    const auto records =
        by_metric(run_clockworks(random_gaps(1, seed), random_gaps(slower, seed + 1000), seed, 40));
    held_itl += holds(records.at("itl_ratio"), slower);
    held_tpot += holds(records.at("tpot_ratio"), slower);
  }
  CAPTURE(slower, held_itl, held_tpot);
  // 95%: fewer than 52 of 60 in one of a hundred tests; a bootstrap of 40 pairs is a little narrow.
  CHECK(held_itl >= 51);
  CHECK(held_tpot >= 51);
}

TEST_CASE("both systems get the same samples, one after the other, in an order that is drawn") {
  const auto clock = std::make_shared<VirtualLoadClock>();
  const auto service = [](std::int64_t) { return std::int64_t{1000}; };
  SimulatedSystem base(clock, service), subject(clock, service);
  const ScenarioResult result =
      run_pairs(base, subject, {.least_queries = 64, .seed = 5, .clock = clock}, {{"think", 0.5}});
  CHECK(base.asked == subject.asked);
  CHECK(base.asked.size() == 64);
  CHECK(base.most_waiting + subject.most_waiting == 2);  // one at a time
  std::vector<std::int64_t> loaded = base.asked;
  std::ranges::sort(loaded);
  loaded.erase(std::ranges::unique(loaded).begin(), loaded.end());
  CHECK(base.loaded == loaded);
  std::int64_t subject_first = 0;
  REQUIRE(result.queries.size() == 128);
  for (std::size_t i = 0; i < 128; i += 2) {
    CHECK(result.queries[i].sample / 2 == result.queries[i + 1].sample / 2);
    CHECK(result.queries[i + 1].issued - result.queries[i].ended == 500'000'000);
    subject_first += result.queries[i].sample % 2;
  }
  CHECK(subject_first > 16);
  CHECK(subject_first < 48);
  REQUIRE(result.measurements.size() == 1);  // there are no tokens
  CHECK(result.measurements[0].metric == "latency_ratio");
}

TEST_CASE("a pair with a failed answer has no ratio, and the run has failed") {
  const ClockworkOptions honest{.first = 0.05, .gap = 0.01, .tokens = 8};
  ClockworkOptions failing = honest;
  failing.fail_every = 10;
  const ScenarioResult result = run_clockworks(honest, failing);
  CHECK(result.status == Status::failed);
  CHECK_THAT(result.reason, Catch::Contains("6 of 120 samples failed"));
  const Measurement record = by_metric(result).at("ttft_ratio");
  CHECK(record.conditions.at("pairs").number() == 54);
  CHECK(record.status == Status::failed);
}

TEST_CASE("what either system doubts is said with its name") {
  struct Doubtful final : SystemUnderTest {
    std::string name() const override { return "doubtful"; }
    std::int64_t samples() const override { return 3; }
    void issue(std::span<const Query> queries) override {
      for (const Query& query : queries) complete({{.id = query.id}});
    }
    SystemReport report() override { return {.doubt = "it counts twice"}; }
  };
  Doubtful base, subject;
  const ScenarioResult result = run_pairs(base, subject, {.least_queries = 5});
  CHECK(result.status == Status::mistrusted);
  CHECK(result.reason == "A: it counts twice; B: it counts twice");
  CHECK(result.measurements.at(0).status == Status::mistrusted);
}

TEST_CASE("a single system, and systems of different samples, are no pair") {
  const auto clock = std::make_shared<VirtualLoadClock>();
  const auto service = [](std::int64_t) { return std::int64_t{1000}; };
  SimulatedSystem one(clock, service), other(clock, service);
  CHECK_THROWS_WITH(scenarios().at("pairs").make()->run(one, {.clock = clock}),
                    Catch::Contains("it asks two systems in turns, simulated is one"));
  other.sample_count = 7;
  CHECK_THROWS_WITH(PairedSystem({one, "A"}, {other, "B"}),
                    Catch::Contains("A has 10 samples and B has 7"));
}
