// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/scenario/find_peak.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <stop_token>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/random.hpp"
#include "tests/evaluation/simulated_system.hpp"

using namespace d5;

namespace {

/// A server of exponential service times with the mean, asked by a Poisson process.
Peak peak_of(double service, PeakOptions options, std::vector<double>* asked = nullptr) {
  const auto clock = std::make_shared<VirtualLoadClock>();
  RandomStream random(11);
  options.run.clock = clock;
  return find_peak(
      [&](double rate, const ScenarioOptions& run) {
        if (asked) asked->push_back(rate);
        SimulatedSystem system(clock, [&](auto) {
          return std::int64_t(-service * std::log1p(-random.uniform_double()) * 1e9);
        });
        return scenarios().at("poisson").make({{"rate", rate}})->run(system, run);
      },
      options);
}

}  // namespace

TEST_CASE("the peak of an M/M/1 queue is found where its percentile meets the objective") {
  // Latencies are exponential with 1 / service - rate: p99 = ln 100 / (1 / service - rate).
  const double service = 0.001, objective = 0.02;
  const double expected = 1 / service - std::log(100) / objective;
  const double first = GENERATE(10.0, 5000.0);
  const Peak peak = peak_of(service, {.run = {.most_seconds = 1e5, .least_queries = 100'000},
                                      .objectives = {{.limit = objective}},
                                      .first_rate = first});
  CAPTURE(first, peak.steps.size());
  CHECK(peak.rate == Approx(expected).epsilon(0.08));
  CHECK(peak.missed > peak.rate);
  CHECK(peak.missed <= peak.rate * 1.05);
}

TEST_CASE("the search doubles or halves, then divides in proportion") {
  std::vector<double> asked;
  const Peak peak = peak_of(1e-9,
                            {.run = {.least_queries = 1000},
                             .objectives = {{.limit = 1}},
                             .first_rate = 10,
                             .highest_rate = 70},
                            &asked);
  CHECK(asked == std::vector<double>{10, 20, 40, 70});
  CHECK(peak.rate == 70);
  CHECK(std::isinf(peak.missed));
}

TEST_CASE("an objective that no rate meets has no peak") {
  const Peak peak = peak_of(0.1, {.run = {.most_seconds = 1e9, .least_queries = 1000},
                                  .objectives = {{.limit = 0.01}},
                                  .first_rate = 16});
  CHECK(peak.rate == 0);
  CHECK(peak.missed == 0.125);  // half of it is below the lowest rate, 0.1
}

TEST_CASE("a run that fails is a miss, with its reason") {
  const Peak peak = find_peak(
      [](double rate, const ScenarioOptions&) {
        ScenarioResult result;
        if (rate > 100) {
          result.status = Status::failed;
          result.reason = "out of memory";
        }
        for (int i = 0; i < 2000; ++i) {
          result.queries.push_back({.id = i, .scheduled = i, .issued = i, .ended = i + 1});
        }
        return result;
      },
      {.objectives = {{.limit = 1}}, .first_rate = 80, .tolerance = 0.01});
  CHECK(peak.rate == Approx(100).epsilon(0.01));
  CHECK(peak.steps[1].reason == "out of memory");
}

TEST_CASE("a run that is mistrusted decides, and its doubt stays with the step") {
  const Peak peak = find_peak(
      [](double rate, const ScenarioOptions&) {
        ScenarioResult result;
        if (rate > 50) {
          result.status = Status::mistrusted;
          result.reason = "latency had not settled";
        }
        for (int i = 0; i < 2000; ++i) {
          result.queries.push_back({.id = i, .scheduled = i, .issued = i, .ended = i + 1});
        }
        return result;
      },
      {.objectives = {{.limit = 1}}, .first_rate = 40, .highest_rate = 80});
  CHECK(peak.rate == 80);
  REQUIRE(peak.steps.size() == 2);
  CHECK(peak.steps[0].doubt.empty());
  CHECK(peak.steps[1].doubt == "latency had not settled");
}

TEST_CASE("a peak is doubted for runs that decided it, but not because a rate that misses grows") {
  using enum PeakStep::Verdict;
  const std::string unsettled = "latency had not settled by the middle of the run";
  Peak peak{.rate = 20, .missed = 40};
  peak.steps = {{.rate = 10, .verdict = holds, .doubt = "queries were asked late"},
                {.rate = 20, .verdict = undecided, .doubt = unsettled},
                {.rate = 20, .verdict = holds},
                {.rate = 40, .verdict = misses, .doubt = unsettled}};
  CHECK(doubts_of(peak).empty());
  peak.steps[2].doubt = unsettled;
  peak.steps[3].doubt = "queries were asked late";
  CHECK(doubts_of(peak) == std::vector<std::string>{"at 20.0 query/s: " + unsettled,
                                                    "at 40.0 query/s: queries were asked late"});
}

namespace {

/// Answers of the latency at all rates, in s; a rate above `most` is undecided.
ScenarioResult answers(double rate, double most, const ScenarioOptions& run) {
  ScenarioResult result;
  for (std::int64_t i = 0; i < run.least_queries; ++i) {
    const bool late = rate > most && i % 100 == 0;  // 1% of them: what p99 turns on
    const std::int64_t latency = late ? 2'000'000'000 : 1'000'000;
    result.queries.push_back({.id = i, .scheduled = i, .issued = i, .ended = i + latency});
  }
  return result;
}

}  // namespace

TEST_CASE("a search asks no longer, and at no more rates, than it says first") {
  const double most = GENERATE(0.01, 0.3, 5.0, 100.0, 1e9);
  PeakOptions options{.run = {.least_seconds = 2},
                      .objectives = {{.limit = 1}},
                      .first_rate = 8,
                      .highest_rate = 500,
                      .lowest_rate = 0.25};
  const PeakBound bound = peak_bound(options);
  double seconds = 0;
  int runs = 0;
  std::vector<double> rates;
  PeakBound left = bound;
  options.on_asked = [&](const PeakAsked& asked) {
    CHECK(asked.left.rates <= left.rates);
    CHECK(asked.left.runs < left.runs);
    CHECK(asked.left.seconds + asked.seconds <= left.seconds * (1 + 1e-9));
    left = asked.left;
  };
  const Peak peak = find_peak(
      [&](double rate, const ScenarioOptions& run) {
        if (rates.empty() || rates.back() != rate) rates.push_back(rate);
        ++runs;
        seconds += std::min(run.most_seconds,
                            std::max(run.least_seconds, double(run.least_queries) / rate));
        return answers(rate, most, run);
      },
      options);
  CAPTURE(most, peak.rate, peak.missed, bound.rates, bound.runs, bound.seconds);
  CHECK(int(rates.size()) <= bound.rates);
  CHECK(runs <= bound.runs);
  CHECK(seconds <= bound.seconds);
  CHECK(bound.runs == 3 * bound.rates);
  CHECK(peak.cut.empty());
}

TEST_CASE("an interrupted search has what it decided") {
  std::stop_source stop;
  int heard = 0;
  const Peak peak = find_peak(
      [&](double rate, const ScenarioOptions& run) {
        if (rate == 80) stop.request_stop();
        run.interrupt.check("scenario");
        return answers(rate, 1e9, run);
      },
      {.run = {.interrupt = {.token = stop.get_token()}},
       .objectives = {{.limit = 1}},
       .first_rate = 10,
       .on_step = [&](const PeakStep& step) {
         ++heard;
         CHECK(step.verdict == PeakStep::Verdict::holds);
       }});
  CHECK(peak.cut == "interrupted");
  CHECK(peak.rate == 40);
  CHECK(peak.steps.size() == 3);
  CHECK(heard == 3);
}

TEST_CASE("a search ends at its time limit with what it decided") {
  const PeakOptions options{.objectives = {{.limit = 1}}, .most_seconds = 0.05};
  CHECK(peak_bound(options).seconds == 0.05);
  const Peak peak = find_peak(
      [&](double rate, const ScenarioOptions& run) {
        while (rate > 20) run.interrupt.check("scenario");  // would go on for ever
        return answers(rate, 1e9, run);
      },
      options);
  CHECK_THAT(peak.cut, Catch::Contains("0.05 s is over"));
  CHECK(peak.rate == 20);
}

TEST_CASE("a search with a time limit says of no run that it goes on beyond the limit") {
  PeakOptions options{
      .run = {.least_seconds = 2}, .objectives = {{.limit = 1}}, .most_seconds = 0.05};
  int heard = 0;
  options.on_asked = [&](const PeakAsked& asked) {
    ++heard;
    CHECK(asked.seconds + asked.left.seconds <= 0.05);
  };
  (void)find_peak(
      [&](double rate, const ScenarioOptions& run) {
        while (rate > 20) run.interrupt.check("scenario");
        return answers(rate, 1e9, run);
      },
      options);
  CHECK(heard == 3);
}

TEST_CASE("a search without an objective, or with rates that do not ascend, is refused") {
  CHECK_THROWS_AS(peak_of(1, {}), ValueError);
  CHECK_THROWS_AS(peak_of(1, {.objectives = {{.limit = 1}}, .first_rate = 9, .highest_rate = 8}),
                  ValueError);
}
