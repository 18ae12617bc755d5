// SPDX-License-Identifier: Apache-2.0
// The pictures of analyses, of an evaluation of three models in three frameworks under three
// scenarios with two batch sizes.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <set>

#include "d5/evaluation/analysis/analysis.hpp"
#include "tests/core/svg_texts.hpp"
#include "tests/evaluation/sample_evaluation.hpp"

using namespace d5;
using Catch::Contains;
using testing::faults_of_texts;
using testing::SampleCell;

namespace {

struct SampleModel {
  const char* name;
  double seconds, accuracy;
  std::int64_t bytes;
};
const SampleModel kModels[] = {{"efficientnet-lite0@1.0.0", 12e-3, 0.75, 18'000'000},
                               {"mobilenet-v2@1.0.0", 8e-3, 0.72, 14'000'000},
                               {"resnet50@1.5.0", 40e-3, 0.76, 102'000'000}};

AnalysedRun whole_evaluation() {
  AnalysedRun run{.name = "run"};
  for (const SampleModel& model : kModels) {
    for (const double slowness : {1.0, 1.3, 4.0}) {
      const char* framework = slowness == 1 ? "onnxruntime" : slowness < 2 ? "torch" : "reference";
      for (const char* scenario : {"single_stream", "server", "offline"}) {
        for (const std::int64_t batch : {1, 8}) {
          const double seconds = model.seconds * slowness * double(batch) * 0.8;
          for (Measurement record : testing::records_of(
                   {framework, batch, seconds / 100, double(batch) / seconds, model.accuracy})) {
            record.subject = model.name;
            record.conditions["model bytes"] = aside(model.bytes, "byte");
            if (record.conditions.contains("scenario")) {
              record.conditions["scenario"] = identity(scenario);
              record.conditions["waiting"] =
                  setting(scenario == std::string("server") ? "sleeps" : "polls");
            }
            run.results.measurements.push_back(std::move(record));
          }
        }
      }
    }
  }
  return run;
}

AnalysisResult analysis_of(const std::string& name, const AnalysedRun& run) {
  return analyses().at(name).make()->analyse(std::vector{run});
}

const PlotMark& mark_with(const Plot& plot, const std::string& label) {
  for (const auto& mark : plot.marks) {
    if (mark.label == label) return mark;
  }
  throw NotFound("no mark is labelled " + label);
}

/// A trace of two runs of a model: three layers of 100 ns, with 10 and 20 ns between them.
AnalysedRun traced_run() {
  AnalysedRun run;
  Timeline trace;
  for (const std::int64_t at : {0, 1000}) {
    const auto add = [&](std::int64_t begin, const char* name) {
      trace.records.push_back({.begin_ns = at + begin,
                               .end_ns = at + begin + 100,
                               .level = "operator",
                               .name = name,
                               .arguments = {{"framework", std::string("torch")}}});
    };
    add(0, "Conv 'c1'");
    add(110, "Relu 'r'");
    add(230, "Conv 'c2'");
  }
  run.traces.push_back(trace);
  return run;
}

}  // namespace

TEST_CASE("no text of an analysis's pictures covers another or leaves the picture") {
  const AnalysedRun run = whole_evaluation(), traced = traced_run();
  std::size_t drawn = 0;
  for (const auto& [name, entry] : analyses().entries()) {
    for (const AnalysedRun& one : {run, traced}) {
      for (const Plot& plot : entry.make()->analyse(std::vector{one}).plots) {
        CHECK(faults_of_texts(plot) == "");
        ++drawn;
      }
    }
  }
  CHECK(drawn >= 15);
  for (const Plot& plot : plots_of({.sources = {{"", run.results}}})) {
    CHECK(faults_of_texts(plot) == "");
  }
}

TEST_CASE("latencies of many cells are a picture a model, with a lane a percentile") {
  const auto plots = analysis_of("latency", whole_evaluation()).plots;
  REQUIRE(plots.size() == 3);
  CHECK(plots[0].title == "Latency: efficientnet-lite0@1.0.0");
  REQUIRE(plots[0].rows.size() == 18);
  CHECK(plots[0].rows[0].lanes == 3);
  CHECK(plots[0].rows[0].label == "onnxruntime single_stream batch 1");
  for (const auto& row : plots[0].rows) CHECK_THAT(row.label, !Contains("sleeps"));
}

TEST_CASE("a report draws an evaluation by its analyses alone") {
  const AnalysedRun run = whole_evaluation();
  Report report{.sources = {{"", run.results}}};
  std::set<std::string> names;
  for (const Plot& plot : plots_of(report)) names.insert(plot.name);
  CHECK(names.contains("latency"));
  report.plots = analysis_plots(std::vector{run});
  for (const Plot& plot : plots_of(report)) CHECK(plot.name.starts_with("evaluation-"));
}

TEST_CASE("accuracy over latency and throughput has a disc a model, as large as its files") {
  const auto plots = analysis_of("trade_off", whole_evaluation()).plots;
  REQUIRE(plots.size() == 2);
  CHECK(plots[0].name == "evaluation-accuracy-latency");
  REQUIRE(plots[0].marks.size() == 9);
  CHECK(plots[0].series == std::vector<std::string>{"onnxruntime", "torch", "reference"});
  const PlotMark& mark = mark_with(plots[0], "mobilenet-v2@1.0.0");  // the first framework's
  CHECK(mark.series == 0);
  CHECK(mark.shape == PlotMark::Shape::disc);
  CHECK(mark.weight == Approx(14.0 / 102));
  CHECK(mark.points[0].y == Approx(0.72));
  // The fastest scenario has batch 1; p99 of 100 latencies from 1 to 100 hundredths of 6.4 ms.
  CHECK(mark.points[0].x == Approx(99 * 6.4e-5).epsilon(0.01));
  // Throughput is the same for each batch: 1 / 6.4 ms.
  CHECK(mark_with(plots[1], mark.label).points[0].x == Approx(1 / 6.4e-3));
  // One model has one accuracy, which no picture repeats.
  CHECK(analysis_of("trade_off", testing::sample_run(
                                     {{"torch", 1, 1e-3, 100, 0.9}, {"torch", 4, 2e-3, 300, 0.9}}))
            .plots.empty());
}

TEST_CASE("throughput and latency are heat maps of models over batches") {
  const auto result = analysis_of("heat_map", whole_evaluation());
  CHECK(result.table.size() == 2 * 27);
  REQUIRE(result.plots.size() == 2);
  CHECK(result.plots[0].name == "evaluation-throughput-heat-map");
  const Plot& latency = result.plots[1];
  CHECK(latency.x.names == std::vector<std::string>{"1", "8"});
  REQUIRE(latency.rows.size() == 27);
  REQUIRE(latency.marks.size() == 2 * 2 * 27);  // a cell and its number
  // Latency of a batch of 8 is the largest of its row, 8 times that of 1.
  CHECK(latency.marks[2].weight == Approx(8 * latency.marks[0].weight));
  const AnalysedRun one_batch = testing::sample_run({{"torch", 1, 1e-3, 100, 0.9}});
  CHECK(analysis_of("heat_map", one_batch).plots.empty());
}

TEST_CASE("layers are drawn by type and over the depth of the model") {
  const auto plots = analysis_of("layers", traced_run()).plots;
  std::vector<std::string> names;
  for (const auto& plot : plots) names.push_back(plot.name);
  // All three layers take the same time, which a picture of nodes would only repeat.
  CHECK(names == std::vector<std::string>{"layers-by-type", "layers-over-depth"});
  CHECK(plots[0].rows[0].label == "Conv");
  const Plot& depth = plots[1];
  REQUIRE(depth.marks.size() == 3);
  CHECK(depth.marks[1].points[1].y == Approx(100e-9));
  CHECK(depth.series == std::vector<std::string>{"Conv", "Relu"});
  CHECK(depth.marks[0].series == depth.marks[2].series);
}

TEST_CASE("the time between layers is from the end of one to the begin of the next") {
  const auto result = analysis_of("between_layers", traced_run());
  REQUIRE(result.table.size() == 2);  // none between two runs of the model
  const auto& row = result.table.rows()[0];
  CHECK(row[1] == "Conv 'c1'");
  CHECK(row[2] == "Relu 'r'");
  CHECK(row[3] == "10.0 ns");
  CHECK(result.table.rows()[1][3] == "20.0 ns");
  CHECK(row.back() == "3.33%");  // 10 ns of 300 ns
  REQUIRE(result.plots.size() == 1);
  CHECK(result.plots[0].marks[1].points[1].y == Approx(20e-9));
}
