// SPDX-License-Identifier: Apache-2.0
#include "d5/core/report/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "bindings.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/report/report.hpp"

namespace d5::python {
namespace {

using Pairs = std::vector<std::pair<double, double>>;

constexpr std::array kShapes = {"line", "faint_line", "dots", "box", "interval",
                                "rule", "text",       "key",  "disc"};
constexpr std::array kScales = {"linear", "whole", "logarithmic"};

PlotAxis axis_of(const std::tuple<std::string, std::string, std::string>& words) {
  const auto& [label, unit, scale] = words;
  const auto place = std::ranges::find(kScales, scale);
  if (place == kScales.end()) {
    throw ValueError(
        fmt::format("Plot: the scale of axis '{}' is '{}', expected linear, whole or logarithmic",
                    printable(label), printable(scale)));
  }
  return {.label = label, .unit = unit, .scale = PlotAxis::Scale(place - kScales.begin())};
}

std::tuple<std::string, std::string, std::string> words_of(const PlotAxis& axis) {
  return {axis.label, axis.unit, kScales[std::size_t(axis.scale)]};
}

Plot of_lines(const std::map<std::string, Pairs>& lines, const std::string& title,
              const std::tuple<std::string, std::string, std::string>& x,
              const std::tuple<std::string, std::string, std::string>& y, const std::string& name) {
  Plot plot{.name = name, .title = title, .x = axis_of(x), .y = axis_of(y)};
  for (const auto& [series, pairs] : lines) {
    const bool is_line = pairs.size() > 1;
    PlotMark mark{.shape = is_line ? PlotMark::Shape::line : PlotMark::Shape::dots,
                  .series = plot.series.size()};
    for (const auto& [at, value] : pairs) mark.points.push_back({at, value});
    plot.series.push_back(series);
    plot.marks.push_back(std::move(mark));
  }
  return plot;
}

}  // namespace

void bind_plot(py::module_& m) {
  py::class_<PlotMark>(m, "PlotMark", "One shape of a plot.")
      .def_property_readonly(
          "shape", [](const PlotMark& mark) { return kShapes[std::size_t(mark.shape)]; },
          "line, faint_line, dots, box (two points are opposite corners), interval (from each "
          "first "
          "point to each second), rule (through the first point), text (its label alone), key or "
          "disc (a circle whose area is `weight`).")
      .def_readonly("series", &PlotMark::series, "Index of the plot's `series` that it belongs to.")
      .def_readonly("label", &PlotMark::label,
                    "Text beside the mark; below the plot, as a key, if there is no room.")
      .def_readonly("weight", &PlotMark::weight,
                    "From 0 to 1: depth of a box's colour, area of a disc.")
      .def_property_readonly(
          "points",
          [](const PlotMark& mark) {
            Pairs pairs;
            for (const auto& point : mark.points) pairs.emplace_back(point.x, point.y);
            return pairs;
          },
          "Points in the units of the axes.");
  py::class_<Plot>(m, "Plot", "A picture of numbers, which a notebook shows.")
      .def(py::init(&of_lines), py::arg("lines"), py::kw_only(), py::arg("title") = "",
           py::arg("x") = std::tuple("", "", "linear"), py::arg("y") = std::tuple("", "", "linear"),
           py::arg("name") = "lines",
           "Plots lines by their names; each line is a list of (x, y), and a single point is a "
           "dot. An axis is its label, its SI unit, and linear, whole (ticks at whole numbers) or "
           "logarithmic.")
      .def_readonly("name", &Plot::name, "Identifier of one word: \"samples-time\".")
      .def_readonly("title", &Plot::title, "Heading.")
      .def_readonly("series", &Plot::series, "Names for the legend, which leaves out empty ones.")
      .def_readonly("marks", &Plot::marks, "Shapes in the order in which they are drawn.")
      .def_property_readonly(
          "x", [](const Plot& plot) { return words_of(plot.x); }, "Label, SI unit, scale.")
      .def_property_readonly(
          "y", [](const Plot& plot) { return words_of(plot.y); }, "Label, SI unit, scale.")
      .def_property_readonly(
          "rows",
          [](const Plot& plot) {
            std::vector<std::pair<std::string, std::size_t>> rows;
            for (const auto& row : plot.rows) rows.emplace_back(row.label, row.lanes);
            return rows;
          },
          "Headings and lanes from the top, which y counts; empty: y is an axis of numbers.")
      .def_property_readonly(
          "empty", [](const Plot& plot) { return plot.marks.empty(); },
          "Whether there is nothing to draw.")
      .def(
          "svg", [](const Plot& plot, int width) { return to_svg(plot, width); },
          py::arg("width") = 640, "The plot as an SVG file's text; width in pixels.")
      .def(
          "png",
          [](const Plot& plot, int width, double scale) {
            return py::bytes(to_png(plot, width, scale));
          },
          py::arg("width") = 640, py::arg("scale") = 2.0,
          "The plot as a PNG file's bytes, with `scale` pixels for each of the SVG's. Raises "
          "Unsupported without librsvg.")
      .def("_repr_svg_", [](const Plot& plot) { return to_svg(plot); })
      .def("__repr__", [](const Plot& plot) {
        return fmt::format("<d5.Plot {}: {} marks>", printable(plot.name), plot.marks.size());
      });
  m.def(
      "plots",
      [](const std::vector<Measurement>& measurements) {
        return plots_of(Report{.sources = {{"", Results{{}, measurements}}}});
      },
      py::arg("measurements"), py::call_guard<py::gil_scoped_release>(),
      "All pictures that measurements support: curves, intervals, distributions, ratios, "
      "rooflines; `d5 report` draws the same.");
}

}  // namespace d5::python
