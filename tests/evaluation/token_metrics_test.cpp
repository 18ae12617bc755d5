// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>
#include <set>

#include "core/results/record_estimate.hpp"
#include "d5/core/results/results.hpp"
#include "d5/core/tensor/random.hpp"
#include "d5/evaluation/load/query_summary.hpp"
#include "d5/evaluation/load/scenario.hpp"
#include "d5/evaluation/scenario/isolated_scenario.hpp"
#include "evaluation/load/token_metrics.hpp"
#include "tests/evaluation/virtual_clockwork.hpp"

using namespace d5;
using detail::ClockworkOptions;

namespace {

ScenarioResult run(const std::string& scenario, const Settings& settings,
                   const ClockworkOptions& clockwork, ScenarioOptions options) {
  options.clock = std::make_shared<VirtualLoadClock>();
  VirtualClockwork system(std::static_pointer_cast<VirtualLoadClock>(options.clock), clockwork);
  return scenarios().at(scenario).make(settings)->run(system, options);
}
ScenarioResult run(const ClockworkOptions& clockwork, ScenarioOptions options = {}) {
  return run("closed_loop", {{"users", 2}}, clockwork, std::move(options));
}

const Measurement& record_of(const ScenarioResult& result, const std::string& metric,
                             double quantile = 0.5) {
  for (const Measurement& record : result.measurements) {
    const bool is_quantile = record.statistic.of == Statistic::Of::quantile;
    if (record.metric != metric || (is_quantile && record.statistic.quantile != quantile)) continue;
    return record;
  }
  FAIL("no record of " << metric);
  return result.measurements.front();
}
double value_of(const ScenarioResult& result, const std::string& metric, double quantile = 0.5) {
  return estimate(record_of(result, metric, quantile)).value;
}
std::set<std::string> metrics_of(const ScenarioResult& result) {
  std::set<std::string> names;
  for (const Measurement& record : result.measurements) names.insert(record.metric);
  return names;
}

/// Answers whose gaps are all the same within an answer, and differ between answers: uniform in
/// [0, 1) s.
ScenarioResult dependent_answers(std::uint64_t seed) {
  constexpr int kAnswers = 40, kTokens = 51;
  RandomStream random(seed);
  ScenarioResult result;
  for (std::int64_t id = 0; id < kAnswers; ++id) {
    const auto gap = std::int64_t(1e9 * random.uniform_double());
    for (int i = 0; i < kTokens; ++i) {
      result.pieces.push_back({.at = 1 + i * gap, .query = std::uint32_t(id), .tokens = 1});
    }
    result.queries.push_back({.id = id, .first = 1, .ended = 1 + kTokens * gap, .tokens = kTokens});
  }
  return result;
}

bool holds(const Interval& interval, double value) {
  return interval.low <= value && value <= interval.high;
}

}  // namespace

TEST_CASE("all scenarios measure the tokens of a system that reports its pieces") {
  const std::string name =
      GENERATE("poisson", "constant", "gamma", "bursts", "closed_loop", "batched");
  const auto result = run(name, {}, {}, {.least_queries = 60});
  CAPTURE(name, result.reason);
  CHECK(result.status == Status::passed);
  for (const double q : {0.5, 0.9, 0.99}) {
    CHECK(value_of(result, "ttft", q) == Approx(0.050));
    CHECK(value_of(result, "itl", q) == Approx(0.010));
    CHECK(value_of(result, "tpot", q) == Approx(0.010));
    CHECK(value_of(result, "stall", q) == Approx(0.010));
  }
  CHECK(value_of(result, "latency") == Approx(0.050 + 19 * 0.010));
  CHECK(value_of(result, "output_tokens") == 20);
  const Estimate itl = estimate(record_of(result, "itl"));
  CHECK(itl.interval.low == Approx(0.010));
  CHECK(itl.interval.high == Approx(0.010));
  for (const QueryRecord& query : result.queries) {
    CHECK(query.first - query.begun == 50'000'000);
    CHECK(query.answered == query.first);
    CHECK(query.tokens == 20);
  }
  CHECK_FALSE(metrics_of(result).contains("ttfa"));  // without reasoning the same as ttft
  CHECK_FALSE(metrics_of(result).contains("goodput"));
}

TEST_CASE("a system that reports no pieces has the records that it had") {
  struct Plain final : SystemUnderTest {
    std::string name() const override { return "plain"; }
    std::int64_t samples() const override { return 3; }
    void issue(std::span<const Query> queries) override {
      for (const Query& query : queries) complete({{.id = query.id}});
    }
  } system;
  const auto result = scenarios().at("closed_loop").make()->run(system, {.least_queries = 20});
  CHECK(metrics_of(result) == std::set<std::string>{"latency", "throughput"});
}

TEST_CASE("a role and an empty piece are no first token") {
  const auto result = run({.role = 0.020});
  CHECK(value_of(result, "ttft") == Approx(0.050));
  CHECK(value_of(result, "stall", 0.99) == Approx(0.010));
}

TEST_CASE("reasoning is among the tokens, and the answer begins after it") {
  const auto result = run({.reasoning = 5});
  CHECK(value_of(result, "ttft") == Approx(0.050));
  CHECK(value_of(result, "ttfa") == Approx(0.100));
}

TEST_CASE("latency between tokens is weighted by tokens, and per token after the first piece") {
  // Seven pieces: 3 tokens each, the last 2. 15 tokens waited 10 / 3 ms, two 5 ms.
  const auto result = run({.per_piece = 3});
  CHECK(value_of(result, "itl") == Approx(0.010 / 3));
  CHECK(value_of(result, "itl", 0.99) == Approx(0.005));
  CHECK(value_of(result, "tpot") == Approx(6 * 0.010 / 17));
  CHECK(value_of(result, "stall") == Approx(0.010));
}

TEST_CASE("a stall is one token's in the tail, and the largest gap of its answer") {
  const auto result = run({.stall = 0.100, .stall_every = 10});  // before piece 10 of 20
  CHECK(value_of(result, "itl") == Approx(0.010));
  CHECK(value_of(result, "itl", 0.9) == Approx(0.010));
  CHECK(value_of(result, "itl", 0.99) == Approx(0.110));  // 1 of 19
  CHECK(value_of(result, "stall") == Approx(0.110));
  CHECK(value_of(result, "tpot") == Approx((19 * 0.010 + 0.100) / 19));
}

TEST_CASE("waiting for a slot is part of the first token's time, by Pollaczek and Khinchine") {
  const double rate = 2.5, service = 0.240;  // M/D/1, load 0.6
  const auto result = run("poisson", {{"rate", rate}}, {.slots = 1},
                          {.most_seconds = 1e6, .least_queries = 30'000, .seed = 4});
  const std::vector<double> ttft = token_times(result).ttft;
  const double mean = std::accumulate(ttft.begin(), ttft.end(), 0.0) / double(ttft.size());
  CHECK(mean ==
        Approx(0.050 + rate * service * service / (2 * (1 - rate * service))).epsilon(0.02));
  CHECK(value_of(result, "itl", 0.99) == Approx(0.010));  // queueing is not between tokens
  const auto rate_of_tokens = estimate(record_of(result, "output_rate"));
  CHECK(rate_of_tokens.value == Approx(20 * rate).epsilon(0.02));
}

TEST_CASE("exponential gaps have the percentiles of their distribution") {
  const auto result = run({.tokens = 101, .gaps = ClockworkOptions::Gaps::exponential, .seed = 3},
                          {.least_queries = 1000});
  for (const double q : {0.5, 0.9, 0.99}) {
    CHECK(value_of(result, "itl", q) == Approx(-0.010 * std::log(1 - q)).epsilon(0.03));
  }
}

TEST_CASE("the interval of a gap holds the truth although the tokens of an answer depend") {
  constexpr int kRuns = 100;
  constexpr double kMedians[] = {0.5};
  int held = 0, held_as_independent = 0;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    const ScenarioResult result = dependent_answers(seed);
    const auto records = detail::token_measurements(result, kMedians);
    const auto itl = std::ranges::find(records, "itl", &Measurement::metric);
    REQUIRE(itl != records.end());
    held += holds(estimate(*itl).interval, 0.5);
    std::vector<double> gaps;
    for (const TokenGap& gap : token_gaps(result)) gaps.push_back(gap.seconds);
    held_as_independent += holds(quantile_interval(gaps, 0.5), 0.5);
  }
  CHECK(held >= 88);  // binomial: fewer of 100 have a probability below 0.5% at 95%
  CHECK(held_as_independent < 50);
}

TEST_CASE("an interval of its own stays with a record in files, and scales with the confidence") {
  constexpr double kMedians[] = {0.5};
  const auto records = detail::token_measurements(dependent_answers(1), kMedians);
  const Results back = results_from_json(to_json(Results{{}, records}), "test");
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Estimate written = estimate(records[i]), read = estimate(back.measurements[i]);
    CHECK(read.value == written.value);
    if (records[i].metric != "itl") continue;
    CHECK(read.interval.low == written.interval.low);
    CHECK(read.interval.high == written.interval.high);
    CHECK(written.interval.low < written.value);
    const Estimate surer = detail::estimate_at(records[i], 0.99);
    // Normal quantiles: scipy.stats.norm.ppf(0.995) / norm.ppf(0.975)
    CHECK(surer.value - surer.interval.low ==
          Approx(1.3142228 * (written.value - written.interval.low)));
  }
}

TEST_CASE("the interval of the output rate holds what arrives") {
  constexpr int kRuns = 40;
  int held = 0;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    const auto result = run("poisson", {{"rate", 20}}, {}, {.least_queries = 800, .seed = seed});
    held += holds(estimate(record_of(result, "output_rate")).interval, 400);
  }
  CHECK(held >= 34);  // binomial: fewer of 40 have a probability below 2% at 95%
}

TEST_CASE("goodput counts answers within all limits, and misses count as misses") {
  const auto result = run({.fail_every = 4, .fail_after = 3}, {.limits = {.ttft = 0.060}});
  CHECK(result.status == Status::failed);  // failed answers are in the reason
  CHECK_THAT(result.reason, Catch::Contains("25 of 100 samples failed"));
  CHECK(value_of(result, "output_tokens") == 20);  // mean of whole answers
  const Estimate share = estimate(record_of(result, "attainment"));
  CHECK(share.value == 0.75);
  // scipy.stats.binomtest(75, 100).proportion_ci(method="exact")
  CHECK(share.interval.low == Approx(0.6534475));
  CHECK(share.interval.high == Approx(0.8312203));
  const Estimate good = estimate(record_of(result, "goodput"));
  const double seconds =
      1e-9 * double(std::ranges::max(result.queries, {}, &QueryRecord::ended).ended -
                    result.queries.front().issued);
  CHECK(good.value == Approx(75 / seconds));
  CHECK(good.interval.low < share.interval.low * 100 / seconds);  // the rate varied, too

  const auto share_of = [](const ClockworkOptions& clockwork, const AnswerLimits& limits) {
    return value_of(run(clockwork, {.limits = limits}), "attainment");
  };
  CHECK(share_of({}, {.ttft = 0.051, .tpot = 0.011, .latency = 0.250}) == 1);
  CHECK(share_of({}, {.ttft = 0.049}) == 0);
  CHECK(share_of({}, {.tpot = 0.009}) == 0);
  CHECK(share_of({}, {.latency = 0.230}) == 0);
  CHECK(share_of({.tokens = 1}, {.tpot = 0.009}) == 1);  // one token keeps no one waiting
}

TEST_CASE("goodput's interval knows that the load was drawn") {
  constexpr std::uint64_t kRuns = 40;
  int held = 0;
  for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
    const auto result = run("poisson", {{"rate", 20}}, {},
                            {.least_queries = 400, .seed = seed, .limits = {.ttft = 1}});
    CHECK(value_of(result, "attainment") == 1);
    held += holds(estimate(record_of(result, "goodput")).interval, 20);
  }
  CHECK(held >= 34);  // binomial: fewer of 40 have a probability below 2% at 95%

  const auto even = run("constant", {{"rate", 20}}, {}, {.limits = {.ttft = 1}});
  const Interval of_share = estimate(record_of(even, "attainment")).interval;
  const Estimate good = estimate(record_of(even, "goodput"));
  CHECK(good.interval.low == Approx(of_share.low * good.value));
}

TEST_CASE("a system's own count of an answer's tokens stands above that of its pieces") {
  struct Counting final : SystemUnderTest {
    explicit Counting(std::shared_ptr<VirtualLoadClock> its_clock) : clock(std::move(its_clock)) {}
    std::string name() const override { return "counting"; }
    std::int64_t samples() const override { return 3; }
    void issue(std::span<const Query> queries) override {
      for (const Query& query : queries) {
        progress({{.id = query.id}});
        clock->pass(90'000'000);
        progress({{.id = query.id}});
        complete({{.id = query.id, .tokens = 10}});
      }
    }
    std::shared_ptr<VirtualLoadClock> clock;
  };
  const auto clock = std::make_shared<VirtualLoadClock>();
  Counting system(clock);
  const auto result =
      scenarios().at("closed_loop").make()->run(system, {.least_queries = 20, .clock = clock});
  CHECK(value_of(result, "output_tokens") == 10);
  CHECK(value_of(result, "tpot") == Approx(0.090 / 9));
}

TEST_CASE("the token that ends an answer has no text, and no time between tokens") {
  struct Ending final : SystemUnderTest {
    explicit Ending(std::shared_ptr<VirtualLoadClock> its_clock) : clock(std::move(its_clock)) {}
    std::string name() const override { return "ending"; }
    std::int64_t samples() const override { return 3; }
    void issue(std::span<const Query> queries) override {
      for (const Query& query : queries) {
        progress({{.id = query.id}});
        clock->pass(100'000'000);
        progress({{.id = query.id}});
        complete({{.id = query.id, .tokens = 3}});
      }
    }
    std::shared_ptr<VirtualLoadClock> clock;
  };
  const auto clock = std::make_shared<VirtualLoadClock>();
  Ending system(clock);
  const auto result =
      scenarios()
          .at("closed_loop")
          .make()
          ->run(system, {.least_queries = 20, .limits = {.tpot = 0.08}, .clock = clock});
  CHECK(value_of(result, "output_tokens") == 3);
  CHECK(value_of(result, "tpot") == Approx(0.100));
  CHECK(value_of(result, "itl") == Approx(0.100));
  CHECK(value_of(result, "attainment") == 0);
}

TEST_CASE("a window in which no token came has no output rate") {
  const auto late = run("constant", {{"rate", 100}}, {.first = 0.3, .gap = 0.005},
                        {.least_queries = 20});  // all 20 are asked within 0.2 s
  CHECK(metrics_of(late).contains("output_tokens"));
  CHECK_FALSE(metrics_of(late).contains("output_rate"));
  CHECK(metrics_of(run("constant", {{"rate", 100}}, {}, {.least_queries = 20}))
            .contains("output_rate"));
}

TEST_CASE("pieces that come after their answer, or to no query, make a run invalid") {
  struct Confused final : SystemUnderTest {
    std::string name() const override { return "confused"; }
    std::int64_t samples() const override { return 3; }
    void issue(std::span<const Query> queries) override {
      for (const Query& query : queries) {
        if (is_late) complete({{.id = query.id}});
        progress({{.id = is_late ? query.id : query.id + 1000}});
        if (!is_late) complete({{.id = query.id}});
      }
    }
    bool is_late = true;
  } system;
  const auto ask = [&] {
    return scenarios().at("closed_loop").make()->run(system, {.least_queries = 20});
  };
  const auto late = ask();
  CHECK(late.status == Status::failed);
  CHECK_THAT(late.reason, Catch::Contains("20 pieces came to samples that had an answer"));
  CHECK_FALSE(metrics_of(late).contains("ttft"));
  system.is_late = false;
  CHECK_THAT(ask().reason, Catch::Contains("came to queries that were never issued"));
}

TEST_CASE("what a system reports of itself is in the records, as conditions, doubt or fault") {
  struct Doubtful final : SystemUnderTest {
    std::string name() const override { return "doubtful"; }
    std::int64_t samples() const override { return 3; }
    void issue(std::span<const Query> queries) override {
      for (const Query& query : queries) complete({{.id = query.id}});
    }
    SystemReport report() override { return said; }
    SystemReport said;
  } system;
  const auto ask = [&] {
    return scenarios().at("closed_loop").make()->run(system, {.least_queries = 20});
  };
  system.said = {.conditions = {{"client", finding("a guess")}}, .doubt = "it counts badly"};
  const auto doubtful = ask();
  CHECK(doubtful.status == Status::mistrusted);
  CHECK_THAT(doubtful.reason, Catch::StartsWith("it counts badly"));
  for (const Measurement& record : doubtful.measurements) {
    CHECK(record.status == Status::mistrusted);
    CHECK(record.conditions.at("client") == "a guess");
  }
  system.said.fault = "the client was busy";
  CHECK(ask().status == Status::failed);
}

TEST_CASE("a scenario in a process of its own brings its pieces back") {
  const auto make = []() -> std::unique_ptr<SystemUnderTest> {
    struct Instant final : SystemUnderTest {
      std::string name() const override { return "instant"; }
      std::int64_t samples() const override { return 3; }
      void issue(std::span<const Query> queries) override {
        for (const Query& query : queries) {
          progress({{.id = query.id}, {.id = query.id, .tokens = 3}});
          complete({{.id = query.id}});
        }
      }
    };
    return std::make_unique<Instant>();
  };
  const auto result = run_isolated(
      make, {"closed_loop"}, {.least_queries = 20, .limits = {.ttft = 60}}, {.most_seconds = 60});
  CHECK(result.pieces.size() == 40);
  CHECK(value_of(result, "output_tokens") == 4);
  CHECK(value_of(result, "attainment") == 1);
}
