// SPDX-License-Identifier: Apache-2.0
// Objectives of generated text. A clockwork with one slot that Poisson arrivals ask is an M/D/1
// queue, whose waiting times are known; the first token is there the told time after the wait.
#include <catch2/catch.hpp>
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/scenario/find_peak.hpp"
#include "tests/evaluation/simulated_system.hpp"
#include "tests/evaluation/virtual_clockwork.hpp"

using namespace d5;

namespace {

const detail::ClockworkOptions kClockwork{.first = 0.1, .gap = 0.25, .tokens = 3, .slots = 1};
constexpr double kService = 0.6;  // s of an answer
constexpr double kLimit = 1;      // s to the first token

Peak token_peak(PeakOptions options) {
  const auto clock = std::make_shared<VirtualLoadClock>();
  options.run.clock = clock;
  options.run.most_seconds = 1e6;
  options.run.least_queries = 30'000;
  options.first_rate = 0.3;
  options.lowest_rate = 0.05;
  return find_peak(
      [&](double rate, const ScenarioOptions& run) {
        VirtualClockwork system(clock, kClockwork);
        return scenarios().at("poisson").make({{"rate", rate}})->run(system, run);
      },
      options);
}

/// P(wait <= t) of M/D/1. Source: Erlang, "The Theory of Probabilities and Telephone
/// Conversations" (1909).
double share_within(double rate, double t) {
  double sum = 0, factorial = 1;
  for (int k = 0; k * kService <= t; ++k) {
    if (k > 0) factorial *= k;
    const double x = rate * (t - k * kService);
    sum += std::exp(x) * std::pow(-x, k) / factorial;
  }
  return (1 - rate * kService) * sum;
}

/// The rate at which that share of the answers begins within the limit.
double rate_with(double share) {
  double low = 0, high = 1 / kService;
  for (int i = 0; i < 60; ++i) {
    const double rate = (low + high) / 2;
    (share_within(rate, kLimit - kClockwork.first) > share ? low : high) = rate;
  }
  return low;
}

}  // namespace

TEST_CASE("the peak of a first token's percentile is that of an M/D/1 queue") {
  const double expected = rate_with(0.9);
  REQUIRE(expected > 0.3);
  const Peak peak = token_peak(
      {.objectives = {{.of = PeakObjective::Of::ttft, .percentile = 0.9, .limit = kLimit},
                      {.of = PeakObjective::Of::itl, .limit = 0.251},
                      {.of = PeakObjective::Of::tpot, .limit = 0.251}}});
  CHECK(peak.rate == Approx(expected).epsilon(0.08));
  CHECK(peak.missed <= peak.rate * 1.05);
  REQUIRE(peak.steps[0].numbers.size() == 3);
  CHECK(peak.steps[0].numbers[0].metric == "ttft");
  CHECK(estimate(peak.steps[0].numbers[1]).value == Approx(0.25));
}

TEST_CASE("the peak of an attainment is the same, with the interval of its share") {
  const Peak peak =
      token_peak({.run = {.limits = {.ttft = kLimit, .tpot = 0.251}},
                  .objectives = {{.of = PeakObjective::Of::attainment, .limit = 0.9}}});
  CHECK(peak.rate == Approx(rate_with(0.9)).epsilon(0.08));
  for (const PeakStep& step : peak.steps) {
    const Estimate share = estimate(step.numbers.at(0));
    CHECK(step.numbers[0].samples.size() == std::size_t(step.queries));
    // Waits of neighbours depend on each other: the share is wider than its interval.
    if (step.rate * kService > 0.95) continue;
    CHECK(share.value == Approx(share_within(step.rate, kLimit - kClockwork.first)).margin(0.03));
    CHECK(share.interval.low < share.value);
    if (step.verdict == PeakStep::Verdict::holds) CHECK(share.interval.low >= 0.9);
    if (step.verdict == PeakStep::Verdict::misses) CHECK(share.interval.high < 0.9);
  }
}

TEST_CASE("one objective that is missed makes a rate miss") {
  const Peak peak =
      token_peak({.objectives = {{.of = PeakObjective::Of::ttft, .percentile = 0.5, .limit = 100},
                                 {.of = PeakObjective::Of::itl, .limit = 0.249}}});
  CHECK(peak.rate == 0);
}

TEST_CASE("objectives that cannot be are refused") {
  CHECK_THROWS_WITH(token_peak({}), Catch::Contains("no objective is given"));
  CHECK_THROWS_WITH(
      token_peak({.objectives = {{.of = PeakObjective::Of::attainment, .limit = 0.9}}}),
      Catch::Contains("ttft_limit"));
  CHECK_THROWS_AS(token_peak({.run = {.limits = {.ttft = 1}},
                              .objectives = {{.of = PeakObjective::Of::attainment, .limit = 1}}}),
                  ValueError);
  CHECK_THROWS_AS(token_peak({.objectives = {{.of = PeakObjective::Of::ttft, .limit = 0}}}),
                  ValueError);
  CHECK_THROWS_AS(token_peak({.objectives = {{.percentile = 1, .limit = 1}}}), ValueError);
}

TEST_CASE("an objective of tokens takes a system that reports them") {
  const auto clock = std::make_shared<VirtualLoadClock>();
  const auto ask = [&](double rate, const ScenarioOptions& run) {
    SimulatedSystem system(clock, [](auto) { return std::int64_t{1000}; });
    return scenarios().at("constant").make({{"rate", rate}})->run(system, run);
  };
  CHECK_THROWS_WITH(find_peak(ask, {.run = {.clock = clock},
                                    .objectives = {{.of = PeakObjective::Of::ttft, .limit = 1}}}),
                    Catch::Contains("the objective is of ttft, but the system reports no tokens"));
}
