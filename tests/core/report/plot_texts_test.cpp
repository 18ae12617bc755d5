// SPDX-License-Identifier: Apache-2.0
// No text of a plot covers another or leaves the picture, whatever the results are.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "core/report/plot_drawing.hpp"
#include "core/report/text_width.hpp"
#include "d5/core/report/report.hpp"
#include "tests/core/svg_texts.hpp"

using namespace d5;
using Catch::Contains;
using Shape = PlotMark::Shape;
using testing::faults_of_texts;

namespace {

const std::string kLong =
    "efficientnet-lite0-with-a-very-long-name-of-its-own@1.0.0 under an unusual configuration";

void check_texts(const Plot& plot) { CHECK(faults_of_texts(plot) == ""); }

/// Records that differ as made-up results do.
struct Made {
  const char* name;
  std::size_t rows;
  bool long_names;
  double (*value)(std::size_t);
};

const Made kMade[] = {
    {"few rows", 2, false, [](std::size_t i) { return 1e-3 * double(i + 1); }},
    {"many rows", 60, false, [](std::size_t i) { return 1e-3 * double(i + 1); }},
    {"long names", 9, true, [](std::size_t i) { return 1e-3 * double(i + 1); }},
    {"equal values", 8, false, [](std::size_t) { return 2.5; }},
    {"one point", 1, false, [](std::size_t) { return 2.5; }},
    {"huge ranges", 12, false, [](std::size_t i) { return std::pow(10.0, 3 * double(i) - 18); }},
    {"near one another", 12, false, [](std::size_t i) { return 1e6 + 1e-4 * double(i); }},
    {"not numbers", 6, false,
     [](std::size_t i) { return i % 2 ? std::nan("") : 1e-3 * double(i + 1); }},
};

std::string row_name(const Made& made, std::size_t row) {
  return made.long_names ? fmt::format("{} number {}", kLong, row) : fmt::format("case {}", row);
}

Measurement record_of(const std::string& subject, const std::string& framework,
                      const std::string& metric, const std::string& unit, Quantity quantity,
                      double value, std::size_t samples = 12) {
  Measurement m{.subject = subject,
                .level = "operator",
                .framework = framework,
                .metric = metric,
                .unit = unit,
                .quantity = quantity};
  for (std::size_t i = 0; i < samples; ++i) m.samples.push_back(value * (1 + 0.01 * double(i % 7)));
  return m;
}

using Records = std::vector<Measurement>;

Records times(const Made& made) {
  Records records;
  for (std::size_t row = 0; row < made.rows; ++row) {
    for (const char* framework : {"torch", "onnxruntime", "reference"}) {
      records.push_back(
          record_of(row_name(made, row), framework, "time", "s", Quantity::time, made.value(row)));
    }
  }
  return records;
}

/// Percentiles of the same samples, as an evaluation records them.
Records percentiles(const Made& made) {
  Records records;
  for (Measurement record : times(made)) {
    record.metric = "latency";
    for (const double quantile : {0.5, 0.9, 0.99}) {
      record.statistic = {.quantile = quantile};
      records.push_back(record);
    }
  }
  return records;
}

Records ratios(const Made& made) {
  Records records = times(made);
  for (Measurement& record : records) {
    record.metric = "time_ratio";
    record.unit = "1";
    record.quantity = Quantity::ratio;
    record.conditions["base"] = identity("reference");
  }
  return records;
}

Records curves(const Made& made) {
  Records records;
  for (std::size_t row = 0; row < made.rows; ++row) {
    Measurement m = record_of(row_name(made, row), "torch", "loss", "1", Quantity::loss, 1, 0);
    m.statistic = {.of = Statistic::Of::last};
    for (std::size_t i = 0; i < 300; ++i) m.samples.push_back(made.value(row) / double(i + 1));
    records.push_back(m);
  }
  return records;
}

Records swept(const Made& made) {
  Records records;
  for (std::size_t row = 0; row < made.rows; ++row) {
    for (const int batch : {1, 2, 8, 64}) {
      records.push_back(record_of(row_name(made, row), "torch", "time", "s", Quantity::time,
                                  made.value(row) * batch));
      records.back().conditions["batch"] = identity(batch);
    }
  }
  return records;
}

Records parts(const Made& made) {
  Records records;
  for (std::size_t row = 0; row < made.rows; ++row) {
    records.push_back(record_of("lenet", "torch", "time", "s", Quantity::time, made.value(row)));
    records.back().conditions["by"] = identity("operator");
    records.back().conditions["operator"] = identity(row_name(made, row));
  }
  return records;
}

Records rates(const Made& made) {
  Records records;
  for (std::size_t row = 0; row < made.rows; ++row) {
    const std::string name = row_name(made, row);
    records.push_back(
        record_of(name, "torch", "flop_rate", "flop/s", Quantity::rate, 1e12 * made.value(row)));
    records.push_back(record_of(name, "torch", "byte_rate", "byte/s", Quantity::rate, 2e9));
  }
  return records;
}

Records seeds(const Made& made) {
  Records records = times(made);
  for (Measurement& record : records) record.conditions["runs"] = finding(12);
  return records;
}

/// Points with labels at made-up places.
Plot scatter(const Made& made, Shape shape) {
  Plot plot{.name = "scatter",
            .title = "Accuracy over latency of " + std::string(made.name),
            .x = {.label = "latency", .unit = "s", .scale = PlotAxis::Scale::logarithmic},
            .y = {.label = "accuracy", .unit = "1"},
            .series = {"torch", "onnxruntime", kLong}};
  for (std::size_t row = 0; row < made.rows; ++row) {
    for (std::size_t series = 0; series < 3; ++series) {
      plot.marks.push_back({.shape = shape,
                            .series = series,
                            .points = {{made.value(row), 0.7 + 0.01 * double(row / 4)}},
                            .label = row_name(made, row) + " " + plot.series[series].substr(0, 20),
                            .weight = double(row + 1) / double(made.rows)});
    }
  }
  return plot;
}

/// A cell for each row and column, with a number in it.
Plot cells(const Made& made, std::size_t columns) {
  Plot plot{.name = "cells", .title = "Throughput by batch", .x = {.label = "batch"}};
  for (std::size_t i = 0; i < columns; ++i) plot.x.names.push_back(std::to_string(1 << i));
  for (std::size_t row = 0; row < made.rows; ++row) {
    plot.rows.push_back({row_name(made, row)});
    for (std::size_t i = 0; i < columns; ++i) {
      const double x = double(i), y = double(row);
      plot.marks.push_back(
          {.shape = Shape::box, .points = {{x - 0.5, y}, {x + 0.5, y + 1}}, .weight = 0.5});
      plot.marks.push_back({.shape = Shape::text,
                            .points = {{x, y + 0.5}},
                            .label = fmt::format("{:.3g}", made.value(row) * double(i + 1))});
    }
  }
  return plot;
}

}  // namespace

TEST_CASE("no text of a report's plots covers another or leaves the picture") {
  for (const Made& made : kMade) {
    for (const auto& records : {times, percentiles, ratios, curves, swept, parts, rates, seeds}) {
      CAPTURE(made.name);
      Report report{.sources = {{"", {{}, records(made)}}}};
      for (const Plot& plot : plots_of(report)) check_texts(plot);
    }
    Report two{.sources = {{kLong + ".json", {{}, times(made)}}, {"b.json", {{}, times(made)}}}};
    two.pairs = compare_results(two.sources[0].results, two.sources[1].results);
    for (const Plot& plot : plots_of(two)) check_texts(plot);
  }
}

TEST_CASE("labels of points have leader lines, or numbers and a key, and cover no other") {
  for (const Made& made : kMade) {
    CAPTURE(made.name);
    for (const Shape shape : {Shape::dots, Shape::disc}) check_texts(scatter(made, shape));
  }
  // Few long labels at one place: each is in the picture, beside its point or in the key.
  const Plot dense = scatter(kMade[2], Shape::dots);
  const std::string svg = detail::drawn(dense, 1140);
  for (const char* number : {"1 ", "14 ", "27 "}) {
    CHECK_THAT(svg, Contains(std::string(">") + number + "efficientnet-lite0"));
  }
  Plot two{.x = {.label = "x"}, .y = {.label = "y"}};
  two.marks = {{.points = {{1, 1}}, .label = "alpha"}, {.points = {{1, 1}}, .label = "beta"}};
  for (const auto& label : {"alpha", "beta"}) CHECK_THAT(to_svg(two), Contains(label));
}

TEST_CASE("cells hold their numbers if all have room, and none otherwise") {
  for (const Made& made : kMade) {
    for (const std::size_t columns : {1, 4, 12}) check_texts(cells(made, columns));
  }
  CHECK_THAT(detail::drawn(cells(kMade[0], 4), 350), Contains(">0.001</text>"));
  CHECK_THAT(detail::drawn(cells(kMade[0], 12), 240), !Contains(">0.001</text>"));
}

TEST_CASE("texts of every length fit the frame: titles, notes, legends, axes, names of ticks") {
  Plot plot{.name = "long",
            .title = kLong + " " + kLong,
            .note = kLong + ": " + kLong + "; µµµ…" + std::string(200, 'W'),
            .x = {.label = kLong + kLong, .unit = "sample/s"},
            .y = {.label = kLong + kLong, .unit = "furlong"},
            .series = {kLong + kLong, "b", "c", kLong}};
  plot.marks = {{.shape = Shape::line, .points = {{0, 0}, {123456, 9.87654e8}}, .label = kLong}};
  check_texts(plot);
  plot.x.names = {kLong, "b", kLong, "d", "a name of usual length"};
  plot.rows = {{kLong + kLong, 1}, {"b", 2}};
  plot.marks = {{.shape = Shape::box, .points = {{0, 0}, {4, 1}}, .label = kLong}};
  check_texts(plot);
  check_texts({.title = "nothing at all"});
}

TEST_CASE("percentiles of one case have a lane each, and say which they are") {
  const auto plots = plots_of({.sources = {{"", {{}, percentiles(kMade[0])}}}});
  const Plot plot = plot_named(plots, "latency");
  REQUIRE(plot.rows.size() == 2);
  CHECK(plot.rows[0].lanes == 9);  // three frameworks, three percentiles
  std::set<double> places;
  std::set<std::string> words;
  for (const auto& mark : plot.marks) {
    if (mark.label.empty()) continue;
    CHECK(places.insert(mark.points.back().y).second);
    words.insert(mark.label.substr(0, mark.label.find(' ')));
  }
  CHECK(words == std::set<std::string>{"median", "p90", "p99"});
  CHECK(plot_named(plots, "samples-latency").rows[0].lanes == 2 * 3);  // the same samples once
}

TEST_CASE("rows are named by the cases that differ, not by how they were measured") {
  Records records;
  for (const char* scenario : {"server", "single_stream"}) {
    for (const int batch : {1, 8}) {
      records.push_back(record_of("lenet", "torch", "latency", "s", Quantity::time, 1e-3 * batch));
      records.back().conditions = {
          {"scenario", identity(scenario)},
          {"batch", identity(batch)},
          {"waiting", setting(scenario == std::string("server") ? "sleeps" : "polls")},
          {"queries", finding(100 * batch + records.size())}};
    }
  }
  const Plot plot = plot_named(plots_of({.sources = {{"", {{}, records}}}}), "latency");
  std::vector<std::string> names;
  for (const auto& row : plot.rows) names.push_back(row.label);
  CHECK(names == std::vector<std::string>{"batch 1, server", "batch 8, server",
                                          "batch 1, single_stream", "batch 8, single_stream"});
  // Without another difference, the setting distinguishes.
  for (Measurement& record : records) record.conditions.erase("scenario");
  const Plot other = plot_named(plots_of({.sources = {{"", {{}, records}}}}), "latency");
  CHECK_THAT(other.rows[0].label, Contains("sleeps"));
}

TEST_CASE("a number that is the same in all records is not drawn") {
  Records records;
  for (const char* framework : {"torch", "reference"}) {
    records.push_back(record_of("lenet", framework, "parameters", "1", Quantity::other, 61706, 1));
    records.back().statistic = {.of = Statistic::Of::single};
  }
  CHECK(plots_of({.sources = {{"", {{}, records}}}}).empty());
  records[1].samples = {61705};
  CHECK(plots_of({.sources = {{"", {{}, records}}}}).size() == 1);
}

TEST_CASE("a picture's check finds texts that overlap, that leave it, and that are turned") {
  const auto svg_of = [](const std::string& texts) {
    return "<svg width=\"100\" height=\"50\" font-size=\"12\">" + texts + "</svg>";
  };
  CHECK(faults_of_texts(svg_of("<text x=\"5\" y=\"20\">left</text>"
                               "<text x=\"40\" y=\"20\">right</text>"))
            .empty());
  CHECK(faults_of_texts(svg_of("<text x=\"5\" y=\"20\">left</text>"
                               "<text x=\"10\" y=\"25\">right</text>"))
            .size() == 1);
  CHECK(faults_of_texts(svg_of("<text x=\"80\" y=\"20\">outside</text>")).size() == 1);
  CHECK(
      faults_of_texts(svg_of("<text x=\"80\" y=\"20\" text-anchor=\"end\">inside</text>")).empty());
  const std::string turned = " transform=\"rotate(-90 50 45)\">turned</text>";
  CHECK(faults_of_texts(svg_of("<text x=\"50\" y=\"45\"" + turned)).empty());
  CHECK(faults_of_texts(
            svg_of("<text x=\"50\" y=\"45\"" + turned + "<text x=\"41\" y=\"30\">over</text>"))
            .size() == 1);
}

TEST_CASE("lines of a text break between words, within long words, and never within a character") {
  CHECK(detail::lines_of("", 100).empty());
  CHECK(detail::lines_of("one two", 1000) == std::vector<std::string>{"one two"});
  CHECK(detail::lines_of("one two", 40) == std::vector<std::string>{"one", "two"});
  std::string joined;
  for (const auto& line : detail::lines_of("µµµµµµ", 1)) {
    CHECK(line == "µ");
    joined += line;
  }
  CHECK(joined == "µµµµµµ");
  CHECK(detail::text_width("iiii") < detail::text_width("WWWW") / 3);
  const std::string cut = detail::fitted(kLong, 100), name = detail::fitted_name(kLong, 150);
  CHECK(cut.ends_with("…"));
  CHECK(detail::text_width(cut) <= 100);
  CHECK_THAT(name, Catch::StartsWith("effici") && Contains("…") && Catch::EndsWith("ation"));
  CHECK(detail::text_width(name) <= 150);
  CHECK(detail::fitted_name("µµµµµµµµ", 60) == "µ…µµµ");
  CHECK(detail::fitted_name("short", 150) == "short");
}
