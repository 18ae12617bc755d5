// SPDX-License-Identifier: Apache-2.0
// Analyses, choices and differences of numbers that a person can check.
#include "d5/evaluation/analysis/analysis.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/evaluation/accuracy/answer_comparison.hpp"
#include "d5/evaluation/analysis/evaluation_choice.hpp"
#include "d5/evaluation/analysis/evaluation_difference.hpp"
#include "d5/evaluation/analysis/result_history.hpp"
#include "tests/evaluation/sample_evaluation.hpp"

using namespace d5;
using Catch::Contains;
using testing::sample_run;
using testing::SampleCell;

namespace {

AnalysisResult analyse(const std::string& name, const std::vector<AnalysedRun>& runs,
                       const Settings& settings = {}) {
  return analyses().at(name).make(settings)->analyse(runs);
}

/// The cell of a row and a column's title.
std::string cell_of(const TextTable& table, std::size_t row, const std::string& column) {
  for (std::size_t i = 0; i < table.columns().size(); ++i) {
    if (table.columns()[i].title == column) return table.rows().at(row).at(i);
  }
  return "no column " + column;
}

const std::vector<SampleCell> kThreeCells = {
    {"torch", 1, 1e-3, 100, 0.9}, {"torch", 4, 2e-3, 300, 0.9}, {"reference", 1, 4e-3, 50, 0.905}};

/// A node's records as a profile has them.
void add_layer(AnalysedRun& run, const std::string& node, const std::string& type, double seconds,
               double flop_rate, double bytes) {
  Measurement record{.subject = "lenet",
                     .level = "operator",
                     .framework = "torch",
                     .conditions = {{"by", identity("node")},
                                    {"node", identity(node)},
                                    {"operator", identity(type)},
                                    {"direction", identity("forward")}}};
  const auto add = [&](const char* metric, const char* unit, std::vector<double> samples) {
    record.metric = metric;
    record.unit = unit;
    record.samples = std::move(samples);
    run.results.measurements.push_back(record);
  };
  std::vector<double> times;
  for (int i = 0; i < 31; ++i) times.push_back(seconds * (1 + 1e-3 * (i - 15)));
  add("time", "s", times);
  add("flop_rate", "flop/s", {flop_rate});
  add("bytes", "byte", {bytes});
}

}  // namespace

TEST_CASE("cells are told apart by what differs, with their model's accuracy and cold start") {
  const std::vector<AnalysedRun> runs = {sample_run(kThreeCells)};
  const auto cells = evaluation_cells(runs);
  REQUIRE(cells.size() == 3);
  CHECK(names_of(cells) ==
        std::vector<std::string>{"torch batch 1", "torch batch 4", "reference batch 1"});
  CHECK(estimate(*cells[2].accuracy).value == Approx(0.905));
  CHECK(cells[1].latency(0.5)->value == Approx(0.101));  // between the 50th and the 51st
  CHECK(cells[1].throughput()->value == 300);
  CHECK(cells[0].status() == Status::passed);
}

TEST_CASE("latency, throughput, accuracy and cold start are those of the records") {
  const std::vector<AnalysedRun> runs = {sample_run(kThreeCells)};
  const auto latency = analyse("latency", runs);
  REQUIRE(latency.table.size() == 3);
  CHECK(cell_of(latency.table, 0, "queries") == "100");
  CHECK(cell_of(latency.table, 0, "p50") == "50.5 ms");
  REQUIRE(latency.plots.size() == 1);
  CHECK(latency.plots[0].rows.size() == 3);
  CHECK(cell_of(analyse("throughput", runs).table, 1, "throughput") == "300 sample/s");
  const auto accuracy = analyse("accuracy", runs);
  CHECK(cell_of(accuracy.table, 2, "value") == "0.905");
  const auto cold = analyse("cold_start", runs);
  CHECK(cell_of(cold.table, 0, "open") == "20.0 ms");
  CHECK(cell_of(cold.table, 0, "first / p50") == "2");  // 101 / 50.5
}

TEST_CASE("every analysis shows the records' own numbers, and counts each query once") {
  // Fewer queries than a p99 needs: 31 of 100 times.
  AnalysedRun run = sample_run({{"torch", 1, 1e-3, 100, 0.9}});
  for (Measurement& record : run.results.measurements) {
    if (record.metric == "latency") record.samples.resize(31);
  }
  const auto of_record = [&](double quantile) {
    const Statistic statistic{.of = Statistic::Of::quantile, .quantile = quantile};
    for (const Measurement& record : run.results.measurements) {
      if (record.metric == "latency" && record.statistic == statistic) return estimate(record);
    }
    throw NotFound("no such record");
  };
  const std::vector<AnalysedRun> runs = {run};  // cells point into it
  const auto cells = evaluation_cells(runs);
  for (const double quantile : {0.5, 0.9, 0.99}) {
    CHECK(cells[0].latency(quantile)->value == of_record(quantile).value);
    const double low = cells[0].latency(quantile)->interval.low;
    const double expected = of_record(quantile).interval.low;
    CHECK((low == expected || (std::isnan(low) && std::isnan(expected))));
  }
  CHECK(std::isnan(of_record(0.99).interval.low));
  const auto latency = analyse("latency", {run}).table;
  CHECK(cell_of(latency, 0, "queries") == "31");
  CHECK(latency.rows()[0][7].empty());  // the interval of p99
  CHECK(cell_of(latency, 0, "p99") == cell_of(analyse("summary", {run}).table, 0, "p99"));
  CHECK(cell_of(latency, 0, "p99") == cell_of(analyse("trade_off", {run}).table, 0, "p99"));
  CHECK(cell_of(latency, 0, "p50") == cell_of(analyse("cold_start", {run}).table, 0, "p50"));
}

TEST_CASE("tokens of a repeated cell come from all its repetitions") {
  // 20 answers a repetition at 0.1 and at 0.3 s; limits kept by 20 of 20, then by 10 of 20.
  AnalysedRun run{.name = "run", .results = {}};
  for (const double ttft : {0.1, 0.3}) {
    Measurement record{.subject = "decoder",
                       .level = "evaluation",
                       .framework = "reference",
                       .conditions = {{"scenario", identity("poisson")}}};
    const auto add = [&](const char* metric, Statistic statistic, std::vector<double> samples) {
      record.metric = metric;
      record.statistic = statistic;
      record.samples = std::move(samples);
      run.results.measurements.push_back(record);
    };
    for (const double quantile : {0.5, 0.9}) {
      add("ttft", {.of = Statistic::Of::quantile, .quantile = quantile},
          std::vector<double>(20, ttft));
    }
    std::vector<double> kept(20, 1);
    if (ttft > 0.2) std::fill_n(kept.begin(), 10, 0);
    add("attainment", {.of = Statistic::Of::share}, kept);
  }
  const TextTable tokens = analyse("tokens", {run}).table;
  REQUIRE(tokens.size() == 1);
  CHECK(cell_of(tokens, 0, "answers") == "40");
  CHECK_THAT(cell_of(tokens, 0, "ttft p50"), Contains("200"));
  CHECK_THAT(cell_of(tokens, 0, "attainment"), Contains("0.75"));
}

TEST_CASE("what larger batches bring is held against the smallest") {
  const auto result = analyse("batch_scaling", {sample_run(kThreeCells)});
  REQUIRE(result.table.size() == 2);  // reference has one size alone
  CHECK(cell_of(result.table, 1, "times") == "3");
  CHECK(cell_of(result.table, 1, "efficiency") == "0.75");
}

TEST_CASE("a run that is beaten in all three is not on the front") {
  const auto result = analyse("trade_off", {sample_run({{"torch", 1, 1e-3, 100, 0.9},
                                                        {"worse", 1, 2e-3, 90, 0.89},
                                                        {"exact", 1, 4e-3, 50, 0.95}})});
  REQUIRE(result.table.size() == 3);
  CHECK(cell_of(result.table, 0, "front") == "yes");
  CHECK(cell_of(result.table, 1, "front").empty());
  CHECK(cell_of(result.table, 2, "front") == "yes");
  CHECK(result.plots.size() == 2);
}

TEST_CASE("a cell without samples is in the summary alone, and ends nothing") {
  AnalysedRun run = sample_run({{"torch", 1, 1e-3, 100, 0.9}, {"refused", 1, 1e-3, 100, 0.9}});
  for (Measurement& record : run.results.measurements) {
    if (record.framework == "refused") record.samples.clear(), record.status = Status::failed;
  }
  for (const auto& [name, entry] : analyses().entries()) {
    const auto table = entry.make()->analyse(std::vector{run}).table;
    CAPTURE(name);
    CHECK(table.size() <= std::size_t{name == "summary" || name == "accuracy" ? 2U : 1U});
  }
  CHECK(cell_of(analyse("summary", {run}).table, 1, "median").empty());
}

TEST_CASE("a run that did not pass is not on the front, and beats nothing there") {
  AnalysedRun run = sample_run({{"torch", 1, 1e-3, 100, 0.9}, {"invalid", 1, 1e-4, 900, 0.95}});
  for (Measurement& record : run.results.measurements) {
    if (record.framework == "invalid") record.status = Status::mistrusted;
  }
  const auto table = analyse("trade_off", {run}).table;
  CHECK(cell_of(table, 0, "front") == "yes");
  CHECK(cell_of(table, 1, "front").empty());
  CHECK(cell_of(table, 1, "status") == "mistrusted");
}

TEST_CASE("a million predictions cost the hours that they take") {
  // 100 samples/s: 10,000 s, 2.7778 hours.
  const auto result = analyse("cost", {sample_run(kThreeCells)}, {{"price", 0.36}});
  CHECK(cell_of(result.table, 0, "cost of a million predictions") == "1.00 USD");
  const auto euros =
      analyse("cost", {sample_run(kThreeCells)}, {{"price", 360}, {"currency", "EUR"}});
  CHECK(cell_of(euros.table, 0, "cost of a million predictions") == "1000 EUR");  // no kEUR
  CHECK(euros.plots.at(0).x.unit == "EUR");
  CHECK(analyse("cost", {sample_run(kThreeCells)}).table.size() == 0);  // nobody knows the price
}

TEST_CASE("a summary has a line a cell, with LoadGen's verdict and why it is invalid") {
  AnalysedRun run = sample_run(kThreeCells);
  for (Measurement& record : run.results.measurements) {
    if (record.metric != "latency") continue;
    const bool held = record.framework == "torch";
    record.conditions["loadgen_result"] = finding(held ? "VALID" : "INVALID");
    if (held) continue;
    record.status = Status::failed;
    record.reason = "LoadGen: INVALID: too late; LoadGen: INVALID: too few";
  }
  // 50 samples/s: 20,000 s, 5.56 hours.
  Measurement time = run.results.measurements.back();
  time.metric = "machine_time";
  time.unit = "s";
  time.samples = {20000};
  run.results.measurements.push_back(time);
  const auto summary = analyse("summary", {run}).table;
  REQUIRE(summary.size() == 3);
  CHECK(cell_of(summary, 0, "accuracy") == "top1 0.9");
  CHECK(cell_of(summary, 1, "throughput") == "300 sample/s");
  CHECK(cell_of(summary, 0, "verdict") == "VALID");
  CHECK(cell_of(summary, 2, "verdict") == "INVALID: too late; too few");
  CHECK(cell_of(summary, 2, "for a million predictions") == "5.56 h");
}

TEST_CASE("layers are sorted by their time, alone and by type, and stand below the roof") {
  AnalysedRun run;
  add_layer(run, "conv1", "Conv", 2e-3, 1e9, 1e6);
  add_layer(run, "conv2", "Conv", 3e-3, 2e9, 1e6);
  add_layer(run, "fc", "Gemm", 5e-3, 1e8, 4e6);
  run.results.environment.peak_float32_flop_rate = 4e9;
  run.results.environment.peak_byte_rate = 1e9;
  const auto nodes = analyse("layers", {run});
  REQUIRE(nodes.table.size() == 3);
  CHECK(cell_of(nodes.table, 0, "layer") == "fc");
  CHECK(cell_of(nodes.table, 0, "share") == "50.0%");
  const auto types = analyse("layers", {run}, {{"by", "type"}});
  REQUIRE(types.table.size() == 2);
  CHECK(cell_of(types.table, 0, "share") == "50.0%");
  CHECK(cell_of(types.table, 1, "time") == "5.00 ms");
  CHECK(analyse("layers", {run}, {{"most", 1}}).table.size() == 1);
  CHECK_THROWS_AS(analyse("layers", {run}, {{"by", "colour"}}), ValueError);
  const auto roof = analyse("roofline", {run});
  REQUIRE(roof.table.size() == 3);
  // conv1: 2e6 flop over 1e6 bytes; the memory gives 2e9 flop/s at most, it has half of that.
  CHECK(cell_of(roof.table, 0, "intensity") == "2");
  CHECK(cell_of(roof.table, 0, "share of roof") == "0.5");
  CHECK(cell_of(roof.table, 0, "bound") == "memory");
  CHECK(cell_of(roof.table, 1, "bound") == "compute");  // 6 flop/byte
}

TEST_CASE("layers come from the spans of a trace, too") {
  AnalysedRun run;
  Timeline trace;
  for (int i = 0; i < 10; ++i) {
    trace.records.push_back({.begin_ns = 1000 * i,
                             .end_ns = 1000 * i + 100,
                             .level = "operator",
                             .name = "Conv 'c'",
                             .arguments = {{"framework", std::string("torch")}}});
  }
  run.traces.push_back(trace);
  const auto result = analyse("layers", {run});
  REQUIRE(result.table.size() == 1);
  CHECK(cell_of(result.table, 0, "type") == "Conv");
  CHECK(cell_of(result.table, 0, "time") == "100 ns");
}

TEST_CASE("a node that holds others has its own time alone, so that times sum to the whole") {
  AnalysedRun run;
  Timeline trace;
  const auto add = [&](std::int64_t begin, std::int64_t end, int lane, const std::string& name,
                       std::vector<TraceArgument> arguments, std::uint64_t id = 0,
                       std::uint64_t parent = 0) {
    trace.records.push_back({.rank = 0,
                             .lane = lane,
                             .id = id,
                             .parent = parent,
                             .begin_ns = begin,
                             .end_ns = end,
                             .level = "operator",
                             .name = name,
                             .arguments = std::move(arguments)});
  };
  const TraceArgument session{"framework", std::string("onnxruntime")};
  const TraceArgument torch{"framework", std::string("torch")};
  const TraceArgument step{"step", std::int64_t{0}};
  for (std::int64_t at = 0; at < 10'000; at += 1000) {
    add(at, at + 100, 0, "Session 's'", {step, session});  // nodes of its own, on their lane
    add(at + 1, at + 91, 1, "Conv 'c'", {session});
    add(at + 91, at + 96, 1, "Relu 'r'", {session});
    add(at + 500, at + 800, 0, "Loop 'l'", {step, torch}, std::uint64_t(at) + 1);
    add(at + 500, at + 740, 0, "Gemm 'g'", {step, torch}, std::uint64_t(at) + 2,
        std::uint64_t(at) + 1);
    add(at + 510, at + 700, 0, "Gemm", {}, std::uint64_t(at) + 3, std::uint64_t(at) + 2);  // kernel
  }
  run.traces.push_back(trace);
  const auto table = analyse("layers", {run}).table;
  std::map<std::string, std::string> shares;
  for (std::size_t i = 0; i < table.size(); ++i) {
    shares[cell_of(table, i, "layer")] = cell_of(table, i, "share");
  }
  CHECK(shares == std::map<std::string, std::string>{{"Session 's'", "5.0%"},
                                                     {"Conv 'c'", "90.0%"},
                                                     {"Relu 'r'", "5.0%"},
                                                     {"Loop 'l'", "20.0%"},
                                                     {"Gemm 'g'", "80.0%"}});
}

TEST_CASE("every analysis has nothing to say of nothing, and its plots are drawn") {
  for (const auto& [name, entry] : analyses().entries()) {
    CAPTURE(name);
    const auto result = entry.make()->analyse(std::vector<AnalysedRun>{{.name = "empty"}});
    CHECK(result.table.size() == 0);
    CHECK(result.plots.empty());
  }
  AnalysedRun run = sample_run(kThreeCells);
  add_layer(run, "conv1", "Conv", 2e-3, 1e9, 1e6);
  const std::vector<AnalysedRun> runs = {run};
  const auto plots = analysis_plots(runs);
  CHECK(plots.size() == 9);  // none of cost, whose price nobody knows, and none of the profile
  for (const auto& plot : plots) CHECK_THAT(to_svg(plot), Contains("<svg"));
}

TEST_CASE("a limit is a sign and a number, with a unit that fits") {
  CHECK(requirement_of("accuracy", ">=0.75").limit == 0.75);
  CHECK(requirement_of("accuracy", ">= 75%").limit == Approx(0.75));
  CHECK(requirement_of("p99", "<=50ms").limit == Approx(0.05));
  CHECK_FALSE(requirement_of("p99", "<=50ms").at_least);
  CHECK(requirement_of("throughput", ">=1e3").limit == 1000);
  for (const std::string words : {"0.75", ">0.75", ">=", ">=x", "<=50 parsecs", ">=0.75ms"}) {
    CAPTURE(words);
    CHECK_THROWS_AS(requirement_of("accuracy", words), ValueError);
  }
}

TEST_CASE("what will do comes first, the cheapest in front, and the others say why not") {
  const std::vector<AnalysedRun> runs = {sample_run(kThreeCells)};
  const auto cells = evaluation_cells(runs);
  const ChoiceOptions wishes{.requirements = {requirement_of("p99", "<=0.25s")},
                             .objective = "cost",
                             .price_per_hour = 0.36};
  const auto candidates = choose(cells, wishes);
  REQUIRE(candidates.size() == 3);
  CHECK(candidates[0].name == "torch batch 4");
  CHECK(candidates[0].objective->value == Approx(1.0 / 3));
  CHECK(candidates[1].name == "torch batch 1");
  CHECK(candidates[2].name == "reference batch 1");
  CHECK_THAT(candidates[2].why_not, Contains("p99 <= 250 ms"));
  // 905 of 1000: the exact interval reaches below 0.9.
  const auto accurate =
      choose(cells, {.requirements = {requirement_of("accuracy", ">=0.901")}, .objective = "p50"});
  CHECK(accurate[0].name == "reference batch 1");
  CHECK_THAT(accurate[0].doubt, Contains("accuracy >= 0.901"));
  CHECK_THROWS_AS(choose(cells, {.objective = "beauty"}), NotFound);
  const std::string table = choice_table(candidates, wishes).to_text(Format::csv);
  CHECK_THAT(table, Contains("cost of a million predictions") && Contains("1.00 USD"));
  const auto dear = choose(cells, {.requirements = {requirement_of("cost", "<=0.5")},
                                   .objective = "p99",
                                   .price_per_hour = 0.36,
                                   .currency = "CHF"});
  CHECK_THAT(dear.back().why_not, Contains("cost <= 0.500 CHF: it is "));
  const auto unpriced = choose(cells, {.objective = "cost"});
  CHECK_THAT(unpriced[0].why_not, Contains("price gives"));
}

TEST_CASE("a failed run is not chosen, however cheap") {
  AnalysedRun run = sample_run(kThreeCells);
  for (auto& record : run.results.measurements) {
    if (record.framework != "torch" || record.metric != "latency") continue;
    record.status = Status::failed;
    record.reason = "wrong answers";
  }
  const std::vector<AnalysedRun> runs = {run};
  const auto candidates = choose(evaluation_cells(runs), {.objective = "p99"});
  CHECK(candidates[0].name == "reference batch 1");
  CHECK_THAT(candidates[1].why_not, Contains("wrong answers"));
}

TEST_CASE("the layers that made the difference come first, by their share of it") {
  AnalysedRun a, b;
  add_layer(a, "conv1", "Conv", 2e-3, 1e9, 1e6);
  add_layer(b, "conv1", "Conv", 1e-3, 1e9, 1e6);
  add_layer(a, "conv2", "Conv", 8e-3, 1e9, 1e6);
  add_layer(b, "conv2", "Conv", 4e-3, 1e9, 1e6);
  add_layer(a, "same", "Relu", 1e-3, 1e9, 1e6);
  add_layer(b, "same", "Relu", 1.001e-3, 1e9, 1e6);
  add_layer(b, "more", "Cast", 1e-3, 1e9, 1e6);
  const auto differences = layer_differences(a, b);
  REQUIRE(differences.size() == 4);
  CHECK(differences[0].name == "conv2");
  CHECK(differences[0].share_of_all == Approx(-4e-3 / -3.999e-3));
  CHECK(differences[0].is_sure);
  const TextTable table = to_table(differences, 2);
  REQUIRE(table.size() == 3);
  CHECK(cell_of(table, 0, "verdict") == "faster");
  CHECK(cell_of(table, 2, "B - A") == "-4.00 ms");
  CHECK(cell_of(to_table(differences, 9), 3, "verdict") == "within noise");
  CHECK(layer_differences(a, {}).empty());
}

TEST_CASE("answers are compared sample by sample, by McNemar's exact test") {
  std::vector<SampleAnswer> a, b;
  for (std::int64_t i = 0; i < 20; ++i) {
    a.push_back({i, "x", i < 12 ? 1.0 : 0.0});
    b.push_back({i, "x", i < 10 || i >= 16 ? 1.0 : 0.0});
  }
  b[11].answer = R"({"classes":[3,1],"labels":["a cat","a dog"]})";
  b.push_back({99, "x", 1});
  const auto difference = compare_answers(a, b);
  CHECK(difference.both == 10);
  CHECK(difference.neither == 4);
  CHECK(difference.right_in_a_alone() == std::vector<std::int64_t>{10, 11});
  CHECK(difference.right_in_b_alone() == std::vector<std::int64_t>{16, 17, 18, 19});
  CHECK(difference.not_in_both == 1);
  // 2 sum of C(6, k) / 2^6 for k = 0, 1, 2.
  CHECK(difference.p_value == Approx(2 * (1 + 6 + 15) / 64.0));
  const std::vector<NamedAnswerComparison> named = {{"top1", difference}};
  CHECK(cell_of(to_table(named), 0, "samples of A alone") == "10 11 (not a cat)");
  CHECK(cell_of(to_table(named), 0, "McNemar's p") == "0.69");  // 0.6875
  a.push_back({0, "x", 1});
  CHECK_THROWS_AS(compare_answers(a, b), ValueError);
  CHECK(compare_answers({}, {}).p_value == 1);
}

TEST_CASE("the best version is the last that was better than all before") {
  std::vector<StoredMeasurement> stored;
  const auto add = [&](const std::string& version, const std::string& time, double seconds,
                       Status status = Status::passed) {
    Measurement record = testing::records_of({"torch", 1, seconds, 100, 0.9}).back();
    record.subject = "lenet@" + version;
    record.status = status;
    stored.push_back({.run = version,
                      .piece = {},
                      .time = time,
                      .hostname = "h",
                      .record = record,
                      .estimate = estimate(record)});
  };
  add("1.2.0", "2026-11-03", 2e-3);
  add("1.0.0", "2026-11-01", 3e-3);
  add("1.3.0", "2026-11-04", 1e-3, Status::failed);
  add("1.1.0", "2026-11-02", 4e-3);
  add("1.4.0", "2026-11-05", 2.5e-3);
  const auto history = result_history(stored);
  REQUIRE(history.size() == 5);
  std::string marks;
  for (const auto& entry : history) {
    CHECK(entry.series == history.front().series);
    marks += entry.is_best ? 'b' : entry.is_record ? 'r' : '-';
  }
  CHECK(marks == "r-b--");
  CHECK(cell_of(history_table(history), 2, "best") == "best");
  const auto plots = history_plots(history);
  REQUIRE(plots.size() == 1);
  CHECK(plots[0].series.size() == 1);
}
