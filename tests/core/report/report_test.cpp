// SPDX-License-Identifier: Apache-2.0
#include "d5/core/report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>

#include "d5/core/errors/error.hpp"
#include "d5/core/numbers/byte_count.hpp"
#include "tests/core/markup_check.hpp"

using namespace d5;
using Catch::Contains;
using Shape = PlotMark::Shape;

namespace {

/// Thirty samples around `center`, none like another.
Measurement timed(const std::string& subject, const std::string& framework, double center) {
  Measurement m{.subject = subject,
                .command = "d5 op bench '" + subject + "'",
                .level = "operator",
                .framework = framework,
                .metric = "time",
                .unit = "s",
                .quantity = Quantity::time};
  for (int i = 0; i < 30; ++i) m.samples.push_back(center * (1 + 0.001 * ((i * 7) % 30 - 15)));
  return m;
}

Measurement curve(const std::string& metric, Quantity quantity, Direction direction,
                  std::vector<double> samples) {
  return {.subject = "mnist-lenet",
          .level = "training",
          .framework = "reference",
          .metric = metric,
          .unit = "1",
          .quantity = quantity,
          .direction = direction,
          .statistic = {.of = Statistic::Of::last},
          .samples = std::move(samples)};
}

Measurement ratio(const std::string& subject, double value) {
  Measurement m = timed(subject, "torch", value);
  m.metric = "time_ratio";
  m.unit = "1";
  m.quantity = Quantity::ratio;
  m.conditions["base"] = identity("reference");
  return m;
}

Measurement rate(const std::string& metric, const std::string& unit, double center) {
  Measurement m = timed("Gemm 8x8 8x8", "reference", center);
  m.metric = metric;
  m.unit = unit;
  m.quantity = Quantity::rate;
  return m;
}

Report report_of(std::vector<Measurement> measurements) {
  return {.sources = {{"", {{}, std::move(measurements)}}}};
}

std::vector<std::string> names_of(const std::vector<Plot>& plots) {
  std::vector<std::string> names;
  for (const auto& plot : plots) names.push_back(plot.name);
  return names;
}

std::vector<std::string> labels_of(const Plot& plot) {
  std::vector<std::string> labels;
  for (const auto& mark : plot.marks) {
    if (!mark.label.empty()) labels.push_back(mark.label);
  }
  return labels;
}

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) ++n;
  return n;
}

}  // namespace

TEST_CASE("results give the plots that their samples support") {
  CHECK(names_of(plots_of(report_of({timed("a", "torch", 1), timed("a", "reference", 2)}))) ==
        std::vector<std::string>{"time", "samples-time"});
  // One bar compares nothing; a time that was taken once has no distribution.
  CHECK(names_of(plots_of(report_of({timed("a", "torch", 1)}))) ==
        std::vector<std::string>{"samples-time"});
  Measurement once = timed("a", "torch", 1);
  once.samples = {1};
  CHECK(plots_of(report_of({once})).empty());
  CHECK(names_of(plots_of(report_of({curve("loss", Quantity::loss, Direction::lower_is_better,
                                           {2, 1, 0.5})}))) == std::vector<std::string>{"loss"});
}

TEST_CASE("a curve marks its last and its best") {
  const auto accuracy = [](std::vector<double> samples) {
    const auto plots = plots_of(report_of({curve(
        "test_accuracy", Quantity::accuracy, Direction::higher_is_better, std::move(samples))}));
    REQUIRE(plots.size() == 1);
    return plots.front();
  };
  CHECK(labels_of(accuracy({0.9, 0.99, 0.98})) ==
        std::vector<std::string>{"best 0.990", "last 0.980"});
  CHECK(labels_of(accuracy({0.9, 0.95})) == std::vector<std::string>{"last and best 0.950"});
  CHECK(accuracy({0.9, 0.99, 0.98}).marks.front().points.back().x == 3);  // counted from 1
}

TEST_CASE("many curves have no labels, and their points still tell their numbers") {
  std::vector<Measurement> runs;
  for (int seed = 1; seed <= 7; ++seed) {
    runs.push_back(curve("loss", Quantity::loss, Direction::lower_is_better, {2, 1.0 / seed}));
    runs.back().conditions["seed"] = setting(seed);
  }
  const auto plots = plots_of(report_of(runs));
  CHECK(names_of(plots) == std::vector<std::string>{"loss"});  // and none over the seeds
  CHECK(labels_of(plots.front()).empty());
  CHECK(count(to_svg(plots.front()), "last and best") == 7);
}

TEST_CASE("runs that were joined are drawn as a distribution over seeds, not as a curve") {
  Measurement joined =
      curve("test_accuracy", Quantity::accuracy, Direction::higher_is_better, {0.97, 0.99, 0.98});
  joined.statistic = {};
  joined.conditions["runs"] = finding(3);
  Measurement time = joined;
  time.metric = "time_to_accuracy";
  time.quantity = Quantity::time;
  time.samples = {2, 3, std::numeric_limits<double>::infinity()};
  const auto run =
      curve("test_accuracy", Quantity::accuracy, Direction::higher_is_better, {0.9, 0.97});
  const auto plots = plots_of(report_of({run, joined, time}));
  CHECK(names_of(plots) == std::vector<std::string>{"test_accuracy-over-seeds",
                                                    "time_to_accuracy-over-seeds",
                                                    "test_accuracy"});
  REQUIRE(plots[0].marks.front().shape == Shape::box);
  CHECK(plots[0].marks.front().points.size() == 6);  // two corners a run
  CHECK_THAT(plots[1].note, Contains("1 of 3 runs did not converge"));
  CHECK(plots[2].marks.front().points.size() == 2);
}

TEST_CASE("a bar begins at 0, ends at the statistic and bears its interval") {
  const auto plots =
      plots_of(report_of({timed("a", "torch", 1e-3), timed("a", "reference", 2e-3)}));
  const Plot& plot = plot_named(plots, "time");
  REQUIRE(plot.rows.size() == 1);
  CHECK(plot.rows[0].lanes == 2);
  CHECK(plot.series == std::vector<std::string>{"torch", "reference"});
  REQUIRE(plot.marks.size() == 6);
  const Measurement m = timed("a", "torch", 1e-3);
  CHECK(plot.marks[0].shape == Shape::key);
  CHECK(plot.marks[1].shape == Shape::box);
  CHECK(plot.marks[1].points[0].x == 0);
  CHECK(plot.marks[1].points[1].x == estimate(m).value);
  CHECK(plot.marks[2].shape == Shape::interval);
  CHECK(plot.marks[2].points[0].x == estimate(m).interval.low);
  CHECK(plot.marks[2].points[1].x == estimate(m).interval.high);
}

TEST_CASE("values over decades are dots on a logarithmic axis") {
  const auto plots = plots_of(report_of({timed("a", "torch", 1e-6), timed("b", "torch", 1e-2)}));
  const Plot& plot = plot_named(plots, "time");
  CHECK(plot.x.scale == PlotAxis::Scale::logarithmic);
  CHECK(std::ranges::none_of(plot.marks, [](const auto& m) { return m.shape == Shape::box; }));
}

TEST_CASE("a histogram holds every sample") {
  const auto plots = plots_of(report_of({timed("a", "torch", 1)}));
  const PlotMark& histogram = plots.front().marks.front();
  REQUIRE(histogram.shape == Shape::box);
  double least = 1e9, most = 0;
  for (const auto& point : histogram.points) {
    least = std::min(least, point.x);
    most = std::max(most, point.x);
  }
  const auto [low, high] = std::ranges::minmax(timed("a", "torch", 1).samples);
  CHECK(least <= low);
  CHECK(most >= high);
}

TEST_CASE("ratios are sorted, with a rule at 1") {
  const auto plots = plots_of(report_of({ratio("a", 0.5), ratio("b", 2), ratio("c", 1)}));
  const Plot& plot = plots.front();
  CHECK(plot.name == "time_ratio");
  REQUIRE(plot.rows.size() == 3);
  CHECK(plot.rows[0].label == "b");
  CHECK(plot.rows[2].label == "a");
  CHECK(plot.marks.front().shape == Shape::rule);
  CHECK(plot.title == "Time ratio to reference");
  CHECK(plot.series.front() == "torch");
}

TEST_CASE("ratios to several bases say which in their series") {
  Measurement other = ratio("a", 2);
  other.conditions["base"] = identity("openvino");
  const auto plots = plots_of(report_of({ratio("a", 0.5), other}));
  CHECK_THAT(to_svg(plots.front()), Contains("torch / openvino"));
}

TEST_CASE("a framework has one colour and one place in the order, in all plots of a page") {
  Measurement of_torch = ratio("a", 0.5), of_openvino = ratio("a", 2);
  of_openvino.framework = "openvino";
  // In order of measurement, the ratios begin with another framework than the times.
  const Report report = report_of({timed("a", "reference", 1), timed("a", "torch", 0.5),
                                   timed("a", "openvino", 2), of_openvino, of_torch});
  const auto plots = plots_of(report);
  const auto y_of = [&](const Plot& plot, std::size_t series) {
    for (const auto& mark : plot.marks) {
      if (mark.series == series && mark.shape != Shape::rule) return mark.points.front().y;
    }
    return -1.0;
  };
  for (const std::string name : {"time", "samples-time", "time_ratio"}) {
    INFO(name);
    const Plot plot = plot_named(plots, name);
    REQUIRE(plot.series.size() == 3);
    CHECK(plot.series[1] == "torch");
    CHECK(plot.series[2] == "openvino");
    CHECK(y_of(plot, 1) < y_of(plot, 2));
  }
  const std::string page = to_html(report);
  CHECK(count(page, "class=\"legend\"") == 1);
  CHECK(count(page, ">openvino</text>") == 0);  // in no plot again
}

TEST_CASE("bars of several series are told apart without colour") {
  const auto shapes_of = [](const std::vector<Measurement>& measurements) {
    const Plot plot = plot_named(plots_of(report_of(measurements)), "time");
    return std::ranges::count(plot.marks, Shape::key, &PlotMark::shape);
  };
  CHECK(shapes_of({timed("a", "torch", 1), timed("a", "reference", 2)}) == 2);
  CHECK(shapes_of({timed("a", "torch", 1), timed("b", "torch", 2)}) == 0);
}

TEST_CASE("a metric is drawn over a condition that is a number and that was varied") {
  std::vector<Measurement> measurements;
  for (const std::string framework : {"reference", "torch"}) {
    for (const int batch : {16, 1, 4}) {  // in whatever order
      measurements.push_back(timed("lenet", framework, 1e-3 * batch));
      measurements.back().conditions = {{"batch", identity(batch)},
                                        {"pass", identity("inference")}};
    }
  }
  const Plot plot = plot_named(plots_of(report_of(measurements)), "time-over-batch");
  CHECK(plot.series == std::vector<std::string>{"reference", "torch"});
  CHECK(plot.x.label == "batch");
  CHECK(plot.x.scale == PlotAxis::Scale::logarithmic);
  std::vector<double> xs;
  const auto line = std::ranges::find(plot.marks, Shape::line, &PlotMark::shape);
  REQUIRE(line != plot.marks.end());
  for (const auto& point : line->points) xs.push_back(point.x);
  CHECK(xs == std::vector<double>{1, 4, 16});
  CHECK(line->points[2].y == Approx(16e-3).epsilon(0.01));

  measurements.back().conditions["batch"] = identity("many");  // no number
  const auto names = names_of(plots_of(report_of(measurements)));
  CHECK(std::ranges::find(names, "time-over-batch") == names.end());
}

TEST_CASE("a sweep behind a case's for is drawn over its names, though each case has a subject") {
  std::vector<Measurement> measurements;
  for (const int m : {64, 8, 16}) {
    for (const int n : {4, 5}) {
      measurements.push_back(timed(fmt::format("Gemm {}x512 512x{}", m, n), "torch", 1e-6 * m * n));
      measurements.back().conditions = {
          {"m", identity(m)}, {"n", identity(n)}, {"threads", identity(2)}, {"seed", setting(m)}};
    }
  }
  const auto plots = plots_of(report_of(measurements));
  const Plot plot = plot_named(plots, "time-over-m");
  CHECK(plot.series == std::vector<std::string>{"512x4, n 4", "512x5, n 5"});
  CHECK(plot.title == "Time over m: Gemm *x512, torch");
  std::vector<double> xs;
  const auto line = std::ranges::find(plot.marks, Shape::line, &PlotMark::shape);
  REQUIRE(line != plot.marks.end());
  for (const auto& point : line->points) xs.push_back(point.x);
  CHECK(xs == std::vector<double>{8, 16, 64});
  const auto names = names_of(plots);
  CHECK(std::ranges::count(names, "time-over-n") == 1);
  // A condition that no subject varies, or that is no identity, is no axis.
  for (const char* other : {"time-over-threads", "time-over-seed"}) {
    CHECK(std::ranges::find(names, other) == names.end());
  }
  // Nor is a number that the subjects differ beside.
  for (auto& m : measurements) m.conditions.erase("m"), m.conditions.erase("n");
  for (std::size_t i = 0; i < measurements.size(); ++i) {
    measurements[i].conditions["chance"] = identity(1000 + i);
  }
  const auto others = names_of(plots_of(report_of(measurements)));
  CHECK(std::ranges::find(others, "time-over-chance") == others.end());
}

TEST_CASE("a roofline stands where FLOP/s and bytes/s are known") {
  const auto plots =
      plots_of(report_of({rate("flop_rate", "flop/s", 8e9), rate("byte_rate", "byte/s", 2e9)}));
  const Plot& plot = plot_named(plots, "roofline");
  const auto point = std::ranges::find(plot.marks, Shape::dots, &PlotMark::shape);
  REQUIRE(point != plot.marks.end());
  CHECK(point->points[0].x == Approx(4));
  CHECK(point->points[0].y == Approx(8e9).epsilon(0.01));
}

TEST_CASE("a roofline's roof is the machine's peak, as far as it is known") {
  Report report = report_of({rate("flop_rate", "flop/s", 8e9), rate("byte_rate", "byte/s", 2e9)});
  CHECK(plot_named(plots_of(report), "roofline").series.back() == "highest rates seen here");
  Environment& machine = report.sources[0].results.environment;
  machine.peak_float32_flop_rate = 16e9;
  machine.peak_float64_flop_rate = 6e9;
  machine.peak_byte_rate = 4e9;
  const Plot plot = plot_named(plots_of(report), "roofline");
  CHECK(plot.series == std::vector<std::string>{"reference", "peak in float32", "peak in float64"});
  const auto roof = std::ranges::find(plot.marks, Shape::line, &PlotMark::shape);
  REQUIRE(roof != plot.marks.end());
  REQUIRE(roof->points.size() == 3);
  CHECK(roof->points[0].y == Approx(4e9 * roof->points[0].x));  // below the ridge memory bounds it
  CHECK(roof->points[1].x == Approx(4));                        // 16e9 / 4e9
  CHECK(roof->points[2].y == 16e9);
}

TEST_CASE("measurements under several memory limits are drawn over the limits") {
  const auto under = [](const std::string& limit, const std::string& framework, double center) {
    Measurement m = timed("alexnet", framework, center);
    if (!limit.empty()) m.conditions["memory limit"] = identity(byte_count(limit), "byte");
    return m;
  };
  const auto plots =
      plots_of(report_of({under("1GiB", "reference", 1), under("512MiB", "reference", 2),
                          under("512MiB", "torch", 3), under("", "torch", 1)}));
  const Plot plot = plot_named(plots, "time-over-memory-limit");
  CHECK(plot.series.size() == 2);
  CHECK(plot.x.unit == "byte");
  std::vector<PlotPoint> line;
  for (const auto& mark : plot.marks) {
    if (mark.shape == Shape::line && mark.series == 0) line = mark.points;
  }
  REQUIRE(line.size() == 2);  // from the smallest limit on
  CHECK(line[0].x == 512.0 * 1024 * 1024);
  CHECK(line[1].x == 1024.0 * 1024 * 1024);
  CHECK(line[0].y > line[1].y);
  CHECK_THROWS_AS(
      plot_named(plots_of(report_of({under("1GiB", "reference", 1), under("", "reference", 2)})),
                 "time-over-memory-limit"),
      NotFound);
}

TEST_CASE("a row's name is what differs among the rows of its plot") {
  const auto part = [](const std::string& by, const std::string& name, const std::string& nodes,
                       double time) {
    Measurement m = timed("lenet", "torch", time);
    m.conditions = {{"by", identity(by)},
                    {by, identity(name)},
                    {"nodes", finding(nodes)},
                    {"direction", identity("forward")}};
    return m;
  };
  const auto plots =
      plots_of(report_of({timed("lenet", "torch", 5), part("operator", "Relu", "2", 1),
                          part("operator", "Conv", "2", 4), part("operator", "Gemm", "3", 2)}));
  const Plot& plot = plot_named(plots, "time-by-operator");
  CHECK(plot.title == "Time, by operator: lenet");
  REQUIRE(plot.rows.size() == 3);
  CHECK(plot.rows[0].label == "Conv");  // the costliest stands first
  CHECK(plot.rows[1].label == "Gemm");
  CHECK(plot.rows[2].label == "Relu");
  // Numbers say what they count.
  std::vector<Measurement> threads;
  for (const char* count : {"1", "2"}) {
    threads.push_back(timed("Relu 8", "torch", 1));
    threads.back().conditions["threads"] = identity(count);
  }
  const auto by_threads = plots_of(report_of(threads));
  CHECK(by_threads.front().rows[1].label == "threads 2");
  CHECK(by_threads.front().title == "Time: Relu 8");
  threads.push_back(timed("Tanh 8", "torch", 1));
  CHECK(plots_of(report_of(threads)).front().rows[1].label == "Relu 8, threads 2");
  CHECK(plots_of(report_of({timed("lenet", "torch", 1)})).front().rows[0].label == "lenet");
}

TEST_CASE("more rows than a picture holds are left to the table, and the picture says so") {
  std::vector<Measurement> many;
  for (int i = 0; i < 100; ++i) many.push_back(timed("case " + std::to_string(i), "torch", 1));
  const auto plots = plots_of(report_of(many));
  CHECK(plots.front().rows.size() == 40);
  CHECK_THAT(plots.front().note, Contains("first 40 rows of 100"));
}

TEST_CASE("a plot is asked for by its name, which an error tells") {
  const auto plots = plots_of(report_of({timed("a", "torch", 1), timed("b", "torch", 2)}));
  CHECK(plot_named(plots, "").name == "time");
  CHECK(plot_named(plots, "samples-time").name == "samples-time");
  CHECK_THROWS_WITH(plot_named(plots, "tme"), Contains("time") && Contains("samples-time"));
  CHECK_THROWS_AS(plot_named({}, ""), ValueError);
}

TEST_CASE("spans within spans lie below them, and many short ones make few marks") {
  Timeline timeline;
  timeline.ranks = {{.rank = 0}};
  timeline.lanes = {{.rank = 0, .number = 1, .name = "main"}};
  const auto add = [&](std::int64_t begin, std::int64_t end, const char* level) {
    timeline.records.push_back(
        {.rank = 0, .lane = 1, .begin_ns = begin, .end_ns = end, .level = level, .name = "n"});
  };
  add(0, 1'000'000'000, "network");
  for (int i = 0; i < 100'000; ++i) add(i * 10'000, i * 10'000 + 9'000, "operator");
  timeline.sort();
  const Plot plot = timeline_plot(timeline);
  REQUIRE(plot.rows.size() == 1);
  CHECK(plot.rows[0].label == "rank 0, main");
  CHECK(plot.rows[0].lanes == 2);
  CHECK(plot.series == std::vector<std::string>{"network", "operator"});
  CHECK(plot.marks.size() < 3000);
  CHECK(plot.marks[0].points[0].y < plot.marks[1].points[0].y);
  CHECK_THAT(plot.marks[1].tip, Contains("and 99999 more"));
}

TEST_CASE("a page is whole in itself and well-formed, whatever the results hold") {
  const std::string evil = "</td><script>alert(1)</script>\"'&\x1b[2J\xff";
  Measurement m = timed(evil, evil, 1e-3);
  m.command = m.device = m.metric = evil;
  m.status = Status::mistrusted;
  m.reason = evil;
  m.conditions[evil] = identity(evil);
  Report report = report_of({m, timed("b", "torch", 2e-3)});
  report.sources[0].name = evil;
  report.sources[0].results.environment.hostname = evil;
  report.sources[0].results.environment.libraries[evil] = evil;
  const std::string page = to_html(report);
  CHECK(testing::breach_of_markup(page) == "");
  CHECK(count(page, "<script") == 1);  // its own
  CHECK_THAT(page, !Contains("src=") && !Contains("href=") && !Contains("url(") &&
                       !Contains("@import") && !Contains("\x1b"));
  CHECK_THAT(page, Contains("default-src 'none'") && Contains("prefers-color-scheme:dark"));
  const std::string table = to_html_table(report.sources[0].results.measurements);
  CHECK(testing::breach_of_markup(table) == "");
  CHECK_THAT(table, !Contains("<script") && !Contains("\x1b"));
}

TEST_CASE("a page tells numbers, reasons once, commands once, and the environment") {
  Measurement first = timed("a", "torch", 1e-3), second = timed("a", "reference", 2e-3);
  first.status = second.status = Status::mistrusted;
  first.reason = second.reason = "the machine was busy";
  Report report = report_of({first, second});
  report.sources[0].results.environment.cpu = "A Processor";
  report.sources[0].results.environment.l2_bytes = 1e6;
  const std::string page = to_html(report);
  CHECK_THAT(page, Contains("1.999 ms"));
  CHECK_THAT(page, Contains("2 mistrusted") && Contains("A Processor") && Contains("976.6 KiB"));
  CHECK(count(page, "<pre>") == 1);
  CHECK(count(page, "d5 op bench &#39;a&#39;") == 1);
  CHECK(count(page, "</span>: the machine was busy") == 1);
  CHECK_THAT(page, Contains("In all rows: subject <b>a</b>"));
  CHECK_THAT(page, Contains("data-value=\"0.00"));
}

TEST_CASE("a table alone has a row a record, and the reasons of those that did not pass") {
  Measurement busy = timed("a", "torch", 1e-3);
  busy.status = Status::mistrusted;
  busy.reason = "the machine was busy";
  const std::string table = to_html_table({timed("a", "reference", 2e-3), busy});
  CHECK(count(table, "<tr>") == 1 + 2);
  CHECK_THAT(table, Contains("<td>torch</td>") && Contains("1.999 ms"));
  CHECK(count(table, "</span>: the machine was busy") == 1);
  CHECK_THAT(to_html_table({}), Contains("Nothing was measured"));
}

TEST_CASE("numbers and the status stand beside the case, before secondary outcomes") {
  std::vector<Measurement> measurements;
  for (const int batch : {1, 4}) {
    measurements.push_back(timed("a", "torch", batch));
    measurements.back().conditions = {
        {"batch", identity(batch)}, {"load", finding(batch + 1)}, {"warmup", setting(batch)}};
  }
  const std::string table = to_html_table(measurements);
  std::size_t at = 0;
  for (const std::string title :
       {"batch", "value", "95% interval", "samples", "statistic", "status", "load", "warmup"}) {
    CAPTURE(title);
    const std::size_t place = table.find(">" + title + "</th>");
    REQUIRE(place != std::string::npos);
    CHECK(place > at);
    at = place;
  }
}

TEST_CASE("a timeline is drawn for screens of three widths, others for two") {
  const std::string page = to_html({.plots = {{.name = "timeline", .title = "t"}, {.name = "b"}}});
  CHECK(count(page, "<div class=\"widest\">") == 1);
  CHECK(count(page, "<div class=\"wide\">") == 2);
  CHECK(count(page, "<div class=\"narrow\">") == 2);
}

TEST_CASE("two files stand side by side, and what differs is marked") {
  Report report = report_of({timed("a", "torch", 1)});
  report.sources[0].name = "a.json";
  report.sources.push_back({"b.json", {{}, {timed("a", "torch", 2)}}});
  report.sources[0].results.environment.hostname = "one";
  report.sources[1].results.environment.hostname = "two";
  report.pairs = compare_results(report.sources[0].results, report.sources[1].results);
  REQUIRE(report.pairs.size() == 1);
  CHECK(names_of(plots_of(report)) ==
        std::vector<std::string>{"ratio-time", "time", "samples-time"});
  report.pairs.push_back(report.pairs.front());
  CHECK_THAT(plots_of(report).front().note, Contains("Geometric mean of 2 pairs: 2.000"));
  const std::string page = to_html(report);
  CHECK_THAT(page, Contains("torch, a.json") && Contains("torch, b.json"));
  CHECK_THAT(page, Contains("<tr class=\"differs\"><th scope=\"row\">hostname</th>"));
  CHECK_THAT(page, Contains("<h2>Comparison</h2>") && Contains("worse"));
  const std::string below = page.substr(page.find("<tfoot>"));  // below the rows that are sorted
  CHECK_THAT(below, Contains("<td>geometric mean</td><td>2 pairs</td><td>time</td>") &&
                        Contains("<td>2.000</td>") && Contains("0 faster, 2 slower"));
}
