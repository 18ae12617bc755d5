// SPDX-License-Identifier: Apache-2.0
#include "d5/core/results/result_comparison.hpp"

#include <catch2/catch.hpp>

using namespace d5;
using Catch::Contains;

namespace {

Measurement latency(double seconds, const std::string& scenario, const std::string& steady_from,
                    const Statistic& statistic = {}) {
  Measurement record{.subject = "lenet",
                     .level = "evaluation",
                     .framework = "reference",
                     .metric = "latency",
                     .unit = "s",
                     .quantity = Quantity::time};
  record.statistic = statistic;
  record.conditions = {{"scenario", identity(scenario)}, {"steady_from", finding(steady_from)}};
  record.samples.assign(20, seconds);
  return record;
}

}  // namespace

TEST_CASE("a scenario is compared with itself, whatever its steady state began with") {
  const Results a{{}, {latency(1, "server", "query 0"), latency(3, "single_stream", "query 0")}};
  const Results b{{}, {latency(6, "single_stream", "query 9"), latency(1, "server", "query 5")}};
  const auto pairs = compare_results(a, b);
  REQUIRE(pairs.size() == 2);
  CHECK(pairs[0].ratio == 1);
  CHECK(pairs[1].ratio == 2);
  CHECK(missing_results(a, {{}, {latency(1, "server", ""), latency(1, "offline", "")}}).size() ==
        1);
  // If each file has one such record, the user compares these.
  const Results offline{{}, {latency(2, "offline", "")}}, server{{}, {latency(4, "server", "")}};
  REQUIRE(differences(offline, server).size() == 1);
  CHECK(differences(offline, server)[0].name == "scenario");
  CHECK(compare_results(offline, server).at(0).ratio == 2);
}

TEST_CASE("an identity that core does not know tells cases apart") {
  const auto of = [](double seconds, const std::string& unknown) {
    Measurement record = latency(seconds, "server", "");
    record.conditions["a room's own"] = identity(unknown);
    return record;
  };
  const Results results{{}, {of(1, "x"), of(2, "y"), of(4, "z")}};
  const Results reversed{{}, {of(4, "z"), of(2, "y"), of(1, "x")}};
  REQUIRE(compare_results(results, reversed).size() == 3);
  for (const auto& pair : compare_results(results, reversed)) CHECK(pair.ratio == 1);
  const Results fewer{{}, {of(1, "x"), of(2, "y")}};
  CHECK(missing_results(results, fewer).size() == 1);
}

TEST_CASE("settings must agree, and are a difference where all of a file have another") {
  const auto of = [](double seconds, int seed) {
    Measurement record = latency(seconds, "server", "");
    record.conditions["seed"] = setting(seed);
    return record;
  };
  const Results a{{}, {of(1, 1), of(2, 2)}}, b{{}, {of(2, 2), of(3, 3)}};
  REQUIRE(compare_results(a, b).size() == 1);
  CHECK(compare_results(a, b)[0].ratio == 1);
  REQUIRE(missing_results(a, b).size() == 1);
  CHECK(missing_results(a, b)[0].a.conditions.at("seed") == "1");
  const Results one{{}, {of(1, 1)}}, other{{}, {of(2, 2)}};
  REQUIRE(differences(one, other).size() == 1);
  CHECK(differences(one, other)[0].name == "seed");
  CHECK(compare_results(one, other).at(0).ratio == 2);
  // A record without the setting, such as an error beside times, does not hide the difference.
  const Results with{{}, {of(1, 1), latency(5, "offline", "")}};
  const Results beside{{}, {of(2, 2), latency(5, "offline", "")}};
  CHECK(differences(with, beside).size() == 1);
  CHECK(compare_results(with, beside).size() == 2);
  // A setting that one file does not know tells nothing apart.
  CHECK(compare_results(a, {{}, {latency(1, "server", ""), latency(2, "server", "")}}).size() == 2);
}

TEST_CASE("findings and asides are never compared") {
  const auto of = [](const std::string& judge, int repetitions) {
    Measurement record = latency(1, "server", "");
    record.conditions["judge"] = finding(judge);
    record.conditions["repetitions"] = aside(repetitions);
    return record;
  };
  const Results a{{}, {of("float64", 4)}}, b{{}, {of("the case", 8)}};
  CHECK(differences(a, b).empty());
  CHECK(compare_results(a, b).size() == 1);
}

TEST_CASE("records of one case are paired in their order, each once") {
  const Results a{{}, {latency(1, "server", ""), latency(2, "server", "")}};
  const Results b{{}, {latency(2, "server", ""), latency(4, "server", "")}};
  const auto pairs = compare_results(a, b);
  REQUIRE(pairs.size() == 2);
  for (const auto& pair : pairs) CHECK(pair.ratio == 2);
}

TEST_CASE(
    "a comparison names what varies: conditions, and a metric's statistics, also in its mean") {
  const Statistic p99{.quantile = 0.99};
  const Results results{{},
                        {latency(1, "server", ""), latency(2, "server", "", p99),
                         latency(1, "offline", ""), latency(2, "offline", "", p99)}};
  const std::string text = to_table(compare_results(results, results)).to_text(Format::csv);
  CHECK_THAT(text, Contains("lenet,reference,server,latency median,") &&
                       Contains("lenet,reference,offline,latency p99,") &&
                       Contains("geometric mean,2 pairs,,latency p99,"));
}
