// SPDX-License-Identifier: Apache-2.0
#include "d5/core/report/plot.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <regex>
#include <set>

#include "core/report/axis_scale.hpp"
#include "core/report/markup.hpp"
#include "d5/core/errors/error.hpp"
#include "tests/core/markup_check.hpp"

using namespace d5;
using Catch::Contains;
using Shape = PlotMark::Shape;
using testing::breach_of_markup;

namespace {

std::vector<std::string> ticks_of(const detail::AxisScale& scale) {
  std::vector<std::string> texts;
  for (const auto& tick : scale.ticks()) texts.push_back(tick.text);
  return texts;
}

std::size_t times_in(const std::string& text, const std::string& word) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) ++n;
  return n;
}

}  // namespace

TEST_CASE("ticks of a linear axis are round, in one unit that its title says") {
  const detail::AxisScale scale({.label = "time", .unit = "s"}, {0, 0.0021}, 0, 500, 5);
  CHECK(ticks_of(scale) == std::vector<std::string>{"0.0", "0.5", "1.0", "1.5", "2.0"});
  CHECK(scale.title() == "time (ms)");
  CHECK(scale(0) == 0);
  CHECK(scale(0.001) == Approx(scale(0.002) / 2));
}

TEST_CASE("decades of a logarithmic axis stand equally far apart, each in its own unit") {
  const detail::AxisScale scale(
      {.label = "time", .unit = "s", .scale = PlotAxis::Scale::logarithmic}, {1e-6, 1e-2}, 0, 400,
      5);
  CHECK(ticks_of(scale) == std::vector<std::string>{"1 µs", "10 µs", "100 µs", "1 ms", "10 ms"});
  CHECK(scale(1e-4) - scale(1e-5) == Approx(scale(1e-3) - scale(1e-4)));
  CHECK_FALSE(scale.shows(0));
  CHECK_FALSE(scale.shows(-1));
}

TEST_CASE("a logarithmic axis of less than a decade still has ticks") {
  const detail::AxisScale scale({.label = "ratio", .scale = PlotAxis::Scale::logarithmic},
                                {0.97, 1.05}, 0, 400, 5);
  CHECK(scale.ticks().size() >= 3);
}

TEST_CASE("a short axis has two ticks at least") {
  const detail::AxisScale scale({.label = "cost"}, {0.8, 6.9}, 0, 250, 3);
  CHECK(ticks_of(scale) == std::vector<std::string>{"2", "4", "6"});
}

TEST_CASE("epochs are counted in whole numbers") {
  const detail::AxisScale scale({.label = "epoch", .scale = PlotAxis::Scale::whole}, {1, 3}, 0, 400,
                                10);
  CHECK(ticks_of(scale) == std::vector<std::string>{"1", "2", "3"});
}

TEST_CASE("an axis of one value, or of none, has a width") {
  for (const detail::Extent extent :
       {detail::Extent{3, 3}, detail::Extent{0, 0}, detail::Extent{}}) {
    const detail::AxisScale scale({.label = "x"}, extent, 0, 100, 5);
    CHECK(std::isfinite(scale(1)));
    CHECK_FALSE(scale.ticks().empty());
  }
}

TEST_CASE("a dozen series and more differ in dots and dashes where they have one colour") {
  constexpr std::size_t kSeries = 18;  // three of each colour
  Plot plot{.x = {.label = "x"}, .y = {.label = "y"}};
  for (std::size_t i = 0; i < kSeries; ++i) {
    plot.series.push_back(std::to_string(i));
    plot.marks.push_back({.shape = Shape::line, .series = i, .points = {{0, 0}, {1, 1}}});
    plot.marks.push_back({.shape = Shape::dots, .series = i, .points = {{1, 1}}});
  }
  const std::string svg = to_svg(plot);
  for (const std::string shape : {"fill=\"none\"", "fill=\"currentColor\""}) {
    std::set<std::string> looks;  // colour, and how it is drawn
    const std::regex mark("<g class=\"(s\\d)\"><path " + shape + "([^>]*)>");
    for (std::sregex_iterator at(svg.begin(), svg.end(), mark), end; at != end; ++at) {
      looks.insert((*at)[1].str() + (*at)[2].str());
    }
    CHECK(looks.size() == kSeries);
  }
}

TEST_CASE("whatever its texts hold, a plot is well-formed and runs nothing") {
  const std::string evil = "<script>alert('1')</script>&\"\x1b[2J\xff";
  Plot plot{.title = evil,
            .note = evil,
            .x = {.label = evil, .unit = evil},
            .rows = {{evil, 1}, {"b", 1}},
            .series = {evil, "b"}};
  plot.marks.push_back({.points = {{1, 0.5}}, .label = evil, .tip = evil});
  const std::string svg = to_svg(plot);
  CHECK(breach_of_markup(svg) == "");
  CHECK_THAT(svg, !Contains("<script") && Contains("&lt;script&gt;") && !Contains("\x1b"));
}

TEST_CASE(
    "a picture of its own is light or dark as the reader's system is, on a ground of its own") {
  const std::string svg = to_svg({.title = "t", .marks = {{.points = {{0, 0}, {1, 1}}}}});
  CHECK_THAT(svg, Contains("@media (prefers-color-scheme:dark){.plot") &&
                      Contains("<rect class=\"back\" width=\"100%\""));
}

TEST_CASE("an upright rule passes by the names of rows") {
  Plot plot{.title = "t", .rows = {{"a", 1}, {"b", 1}}};
  plot.marks = {{.shape = Shape::rule, .points = {{1, 0}}}, {.points = {{1, 0.5}, {1, 1.5}}}};
  const std::string svg = to_svg(plot);
  const std::size_t begin = svg.find("stroke-dasharray=\"4 3\"");
  REQUIRE(begin != std::string::npos);
  CHECK(times_in(svg.substr(begin, svg.find("/>", begin) - begin), " V") == 2);  // a piece a row
}

TEST_CASE("every shape is drawn, and what is not finite is left out") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Plot plot{.title = "t", .x = {.label = "x"}, .y = {.label = "y"}};
  plot.marks = {{.shape = Shape::line, .points = {{0, 0}, {1, 1}}},
                {.shape = Shape::dots, .points = {{0.5, 0.5}, {nan, 0.2}}},
                {.shape = Shape::box, .points = {{0, 0}, {1, 1}}},
                {.shape = Shape::interval, .points = {{0, 0.3}, {1, 0.3}}},
                {.shape = Shape::interval, .points = {{0, nan}, {1, nan}}},
                {.shape = Shape::rule, .points = {{0, 0.7}}},
                {.shape = Shape::key, .points = {{0, 0.5}}}};
  const std::string svg = to_svg(plot);
  CHECK(breach_of_markup(svg) == "");
  CHECK(times_in(svg, "<g class") == 6);
  CHECK_THAT(svg, !Contains("nan") && !Contains("inf"));
}

TEST_CASE("a curve of a million points makes a small picture, with its one peak") {
  PlotMark line{.shape = Shape::line};
  for (int i = 0; i < 1'000'000; ++i) line.points.push_back({double(i), i == 400'000 ? 5.0 : 1.0});
  Plot plot{.title = "t", .x = {.label = "x"}, .y = {.label = "y"}, .marks = {line}};
  const std::string with_peak = to_svg(plot);
  CHECK(with_peak.size() < 100'000);
  plot.marks[0].points[400'000].y = 1;
  plot.marks[0].points[0].y = 5;  // the same axis
  CHECK(to_svg(plot).find("<path") != std::string::npos);
  CHECK(to_svg(plot) != with_peak);
}

TEST_CASE("texts that do not fit are shortened by letters, not by bytes") {
  CHECK(detail::shortened("µµµµ", 4) == "µµµµ");
  CHECK(detail::shortened("µµµµ", 3) == "µµ…");
  CHECK(detail::length_of("1 µs") == 4);
}

TEST_CASE("a PNG has twice the pixels of its SVG, or is absent with a reason") {
  const Plot plot{
      .title = "t", .x = {.label = "x"}, .y = {.label = "y"}, .marks = {{.points = {{1, 1}}}}};
  try {
    const std::string png = to_png(plot, 300, 2);
    REQUIRE(png.size() > 24);
    CHECK(png.substr(1, 3) == "PNG");
    const auto byte = [&](std::size_t i) { return int(static_cast<unsigned char>(png[i])); };
    CHECK(byte(18) * 256 + byte(19) == 600);
  } catch (const Unsupported& absent) {
    CHECK_THAT(absent.what(), Contains("cannot be loaded") && Contains("format svg"));
  }
}
