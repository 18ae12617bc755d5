// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/files/atomic_file.hpp"
#include "d5/evaluation/analysis/analysis.hpp"
#include "d5/evaluation/run/evaluate.hpp"
#include "tests/cache_folder.hpp"
#include "tests/evaluation/toy_evaluation.hpp"
#include "tests/temporary_folder.hpp"

namespace d5 {
namespace {

struct AskedSink final : EvaluationSink {
  std::vector<QueryRecord> asked;
  void evaluation(const EvaluationRun&) override {}
  void measurements(const std::string&, const std::string&, std::span<const Measurement>) override {
  }
  void queries(const std::string&, const std::string&,
               std::span<const QueryRecord> records) override {
    asked.assign(records.begin(), records.end());
  }
  void answers(const std::string&, const std::string&, std::span<const SampleAnswer>) override {}
  void trace(const std::string&, const std::string&, const Timeline&) override {}
};

const Measurement& row_of(const Results& results, const std::string& metric) {
  const auto place = std::ranges::find(results.measurements, metric, &Measurement::metric);
  REQUIRE(place != results.measurements.end());
  return *place;
}

/// A model without a network file, and prompts of 16 bytes.
EvaluationManifest evaluation_of_text(const testing::TemporaryFolder& folder,
                                      const std::string& framework) {
  write_file(folder / "book.txt", std::string(1000, 'a'));
  write_file(folder / "prompts.yaml",
             "kind: dataset\nname: prompts\nversion: 1.0.0-dev\ntask: text generation\nlicence: "
             "CC0-1.0\nmodality: text\nreader: {name: text, data: book.txt, length: 16, "
             "test_share: 0.5}\n");
  write_file(folder / "ticks.yaml",
             "kind: model\nname: ticks\nversion: 1.0.0-dev\ntask: text generation\nlicence: "
             "CC0-1.0\nformat: none\n");
  EvaluationManifest manifest;
  manifest.name = "text";
  manifest.version = "1.0.0-dev";
  manifest.models = {folder / "ticks.yaml"};
  manifest.dataset = folder / "prompts.yaml";
  manifest.frameworks = {framework};
  manifest.scenarios = {{"closed_loop", {{"users", 2}}}};
  manifest.queries = 10;
  manifest.ttft_limit = 3600;
  return manifest;
}

TEST_CASE("generated text is evaluated without a network, and its tokens are timed") {
  const testing::OwnCacheFolder cache;
  const testing::TemporaryFolder folder;
  const auto manifest =
      evaluation_of_text(folder, "clockwork:first=0.004:gap=0.002:tokens=5:stall=0:seed=1");
  AskedSink sink;
  const Results results = evaluate(manifest, {.sink = &sink});
  CHECK(exit_status(results.measurements) == 0);
  CHECK(row_of(results, "accuracy").status == Status::skipped);
  const Measurement& ttft = row_of(results, "ttft");
  CHECK(ttft.framework == manifest.frameworks[0]);
  CHECK(ttft.samples.size() == 10);
  for (const double seconds : ttft.samples) CHECK(seconds >= 0.004);
  CHECK(estimate(row_of(results, "itl")).value > 0);
  CHECK(estimate(row_of(results, "tpot")).value > 0);
  CHECK(estimate(row_of(results, "attainment")).value == 1);
  CHECK(estimate(row_of(results, "goodput")).interval.low > 0);
  REQUIRE(sink.asked.size() == 10);
  for (const QueryRecord& query : sink.asked) {
    CHECK(query.tokens == 5);
    CHECK(query.first >= query.begun + 4'000'000);
    CHECK(query.ended >= query.begun + 4'000'000 + 4 * 2'000'000);
  }
}

TEST_CASE("frameworks are compared with the first, pair by pair") {
  const testing::OwnCacheFolder cache;
  const testing::TemporaryFolder folder;
  EvaluationManifest manifest = evaluation_of_text(folder, "clockwork:first=0.02:gap=0.005");
  manifest.scenarios = {{"pairs"}};
  CHECK_THROWS_WITH(evaluate(manifest), Catch::Contains("compares each framework with the first"));
  manifest.frameworks.push_back("clockwork:first=0.04:gap=0.005");
  manifest.accuracy = false;
  AskedSink sink;
  const Results results = evaluate(manifest, {.sink = &sink});
  CHECK(exit_status(results.measurements) == 0);
  CHECK(sink.asked.empty());
  for (const Measurement& record : results.measurements) {
    CHECK(record.framework == manifest.frameworks[1]);
  }
  const Measurement& ttft = row_of(results, "ttft_ratio");
  CHECK(ttft.conditions.at("base") == manifest.frameworks[0]);
  CHECK(ttft.conditions.at("scenario") == "pairs");
  CHECK_THAT(ttft.command, Catch::Contains("--framework " + manifest.frameworks[0] + "," +
                                           manifest.frameworks[1]));
  // A timer wakes late, by some tenths of a millisecond.
  CHECK(estimate(ttft).value == Approx(2).epsilon(0.1));
  CHECK(estimate(row_of(results, "itl_ratio")).value == Approx(1).epsilon(0.1));
}

TEST_CASE("the analysis of tokens has a row a cell, with the records' own numbers") {
  const testing::OwnCacheFolder cache;
  const testing::TemporaryFolder folder;
  const Results results =
      evaluate(evaluation_of_text(folder, "clockwork:first=0.004:gap=0.002:tokens=5"));
  const auto analyse = [](const std::string& name, const Results& of) {
    return analyses().at(name).make()->analyse(std::vector<AnalysedRun>{{"", of}});
  };
  const AnalysisResult tokens = analyse("tokens", results);
  REQUIRE(tokens.table.size() == 1);
  const auto cell = [&](const std::string& column) {
    const auto place = std::ranges::find(tokens.table.columns(), column, &TextTable::Column::title);
    REQUIRE(place != tokens.table.columns().end());
    return tokens.table.rows()[0][std::size_t(place - tokens.table.columns().begin())];
  };
  CHECK(cell("answers") == "10");
  CHECK(cell("attainment") == "1.00");
  for (const char* metric : {"ttft", "itl", "tpot"}) {
    const auto place = std::ranges::find_if(results.measurements, [&](const Measurement& one) {
      return one.metric == metric && one.statistic == Statistic{};  // the median
    });
    REQUIRE(place != results.measurements.end());
    CHECK(cell(std::string(metric) + " p50") == with_prefix(estimate(*place).value, "s"));
  }
  REQUIRE(tokens.plots.size() == 1);
  CHECK(tokens.plots[0].rows.size() == 1);
  Results without = results;
  std::erase_if(without.measurements, [](const auto& one) { return one.metric == "ttft"; });
  CHECK(analyse("tokens", without).table.size() == 0);
}

TEST_CASE("a generator stands in a model's place, with prompts that d5 carries") {
  const testing::OwnCacheFolder cache;
  EvaluationManifest manifest;
  manifest.name = "text";
  manifest.version = "1.0.0-dev";
  manifest.models = {"smollm2"};
  const FixedEvaluation fixed = fix_evaluation(manifest);
  CHECK(fixed.models[0].manifest.name == "smollm2");
  CHECK(fixed.datasets[0].manifest.name == "prompts");
  const FixedEvaluation again = fixed_evaluation_from(fixed.canonical, "again.json");
  CHECK(again.key == fixed.key);
  CHECK(again.models[0].canonical == fixed.models[0].canonical);
  manifest.models = {"smolm2"};
  CHECK_THROWS_AS(fix_evaluation(manifest), NotFound);
  CHECK_THROWS_WITH(fix_evaluation(manifest), Catch::Contains("did you mean smollm2?"));
}

TEST_CASE("a framework and a model that do not fit by text are refused, with the way out") {
  const testing::OwnCacheFolder cache;
  const testing::TemporaryFolder folder;
  const Results tensors = evaluate(evaluation_of_text(folder, "null"));
  CHECK_THAT(row_of(tensors, "latency").reason, Catch::Contains("null generates no text"));
  CHECK(row_of(tensors, "latency").status == Status::unsupported);
  const testing::ToyEvaluation toy;
  EvaluationManifest manifest;
  manifest.name = "test";
  manifest.version = "1.0.0-dev";
  manifest.models = {toy.model()};
  manifest.frameworks = {"clockwork"};
  manifest.scenarios = {{"closed_loop"}};
  manifest.queries = 10;
  const Results text = evaluate(manifest);
  CHECK_THAT(row_of(text, "latency").reason, Catch::Contains("clockwork answers prompts"));
}

}  // namespace
}  // namespace d5
