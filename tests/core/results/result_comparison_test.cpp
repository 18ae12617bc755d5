// SPDX-License-Identifier: Apache-2.0
#include "d5/core/result_comparison.hpp"

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
  record.conditions = {{"scenario", scenario}, {"steady_from", steady_from}};
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
  // Where each has one, it is what the user compares.
  const Results offline{{}, {latency(2, "offline", "")}}, server{{}, {latency(4, "server", "")}};
  REQUIRE(differences(offline, server).size() == 1);
  CHECK(differences(offline, server)[0].name == "scenario");
  CHECK(compare_results(offline, server).at(0).ratio == 2);
}

TEST_CASE("of several records of a key the most alike is the partner") {
  const auto of = [](double seconds, const std::string& unknown) {
    Measurement record = latency(seconds, "server", "");
    record.conditions["a room's own"] = unknown;
    return record;
  };
  const Results results{{}, {of(1, "x"), of(2, "y"), of(4, "z")}};
  for (const auto& pair : compare_results(results, results)) CHECK(pair.ratio == 1);
}

TEST_CASE("what varies is told: conditions, and the statistics of a metric, in its mean, too") {
  const Statistic p99{.quantile = 0.99};
  const Results results{{},
                        {latency(1, "server", ""), latency(2, "server", "", p99),
                         latency(1, "offline", ""), latency(2, "offline", "", p99)}};
  const std::string text = to_table(compare_results(results, results)).to_text(Format::csv);
  CHECK_THAT(text, Contains("lenet,reference,server,latency median,") &&
                       Contains("lenet,reference,offline,latency p99,") &&
                       Contains("geometric mean,2 pairs,,latency p99,"));
}
