// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/run/peak_work.hpp"

#include <catch2/catch.hpp>
#include <stop_token>
#include <string>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/analysis/analysis.hpp"
#include "tests/evaluation/toy_evaluation.hpp"

namespace d5 {
namespace {

TEST_CASE("an objective is a percentile and the time that it may have, or an attainment") {
  using Of = PeakObjective::Of;
  const auto p99 = objectives_of_words("p99<=50ms").at(0);
  CHECK(p99.of == Of::latency);
  CHECK(p99.percentile == Approx(0.99));
  CHECK(p99.limit == Approx(0.05));
  CHECK(objectives_of_words("p99.9 <= 2 s").at(0).percentile == Approx(0.999));
  const auto several = objectives_of_words("ttft.p99<=0.5s, itl.p90 <= 50 ms,attainment>=99%");
  REQUIRE(several.size() == 3);
  CHECK(several[0].of == Of::ttft);
  CHECK(several[1].of == Of::itl);
  CHECK(several[1].percentile == Approx(0.9));
  CHECK(several[1].limit == Approx(0.05));
  CHECK(several[2].of == Of::attainment);
  CHECK(several[2].limit == Approx(0.99));
  for (const std::string words :
       {"", "p99", "p99>=50ms", "p0<=1s", "p100<=1s", "mean<=1s", "p99<=0s", "p99<=1 kg", "<=1s",
        "p99<=1s,", ",", "ttf.p99<=1s", "ttft<=1s", "attainment<=99%", "attainment>=99ms",
        "attainment.p99>=0.5", "p99<=50", "p99<=50%"}) {
    INFO(words);
    CHECK_THROWS_AS(objectives_of_words(words), ValueError);
  }
}

TEST_CASE("a peak tells each rate that it tried, and an analysis draws them") {
  const testing::ToyEvaluation toy;
  EvaluationManifest manifest;
  manifest.name = "test";
  manifest.version = "1.0.0-dev";
  manifest.models = {toy.model()};
  manifest.frameworks = {"null:output=means:classes=3"};
  const FixedEvaluation evaluation = fix_evaluation(manifest);
  PeakWorkOptions options;
  options.scenario = {"constant"};
  options.search.objectives = {{.percentile = 0.5, .limit = 10}};  // any machine's
  options.search.run.least_queries = 20;
  options.search.first_rate = 100;
  options.search.highest_rate = 200;
  Results results = run_work(peak_work(evaluation, options)).results;
  REQUIRE(results.measurements.size() == 3);
  CHECK(results.measurements[0].metric == "peak_rate");
  CHECK(results.measurements[0].samples == std::vector<double>{200});
  CHECK(condition_of(results.measurements[0], "missed at") == "none");
  CHECK(results.measurements[1].samples.size() == 20);
  CHECK(condition_number(results.measurements[2], "rate") == 200);
  CHECK(condition_of(results.measurements[2], "verdict") == "holds");
  const std::vector<AnalysedRun> runs{{.name = "r", .results = results}};
  const auto analysed = analyses().at("peak").make()->analyse(runs);
  CHECK(analysed.plots.size() == 1);
  CHECK_THAT(analysed.table.to_text(Format::csv), Catch::Contains("holds"));

  std::stop_source stop;
  PeakWorkOptions cut = options;
  cut.search.run.interrupt = {.token = stop.get_token()};
  cut.on_step = [&](const std::string& piece, const PeakStep&) {
    CHECK(piece == "toy@1.0.0-dev null:output=means:classes=3 constant batch 1");
    stop.request_stop();
  };
  const WorkDone done =
      run_work(peak_work(evaluation, cut), {.interrupt = {.token = stop.get_token()}});
  CHECK_FALSE(done.whole);
  REQUIRE(done.results.measurements.size() == 2);  // what was decided
  CHECK(done.results.measurements[0].status == Status::mistrusted);
  CHECK(done.results.measurements[0].samples == std::vector<double>{100});
  CHECK_THAT(done.results.measurements[0].reason, Catch::Contains("interrupted"));
  CHECK(condition_number(done.results.measurements[1], "rate") == 100);

  FixedEvaluation limited = evaluation;
  limited.manifest.ttft_limit = 0.5;
  CHECK_THROWS_WITH(peak_work(limited, options), Catch::Contains("attainment>=99%"));

  PeakWorkOptions rated = options;
  rated.scenario.settings.set("rate", 50.0);
  CHECK_THROWS_WITH(peak_work(evaluation, rated), Catch::Contains("'constant:rate=50' has a rate"));

  options.search.objectives[0].limit = 1e-9;  // nobody's
  options.search.lowest_rate = 40;
  results = run_work(peak_work(evaluation, options)).results;
  CHECK(results.measurements[0].status == Status::failed);
}

}  // namespace
}  // namespace d5
