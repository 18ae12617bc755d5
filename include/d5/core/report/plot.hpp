// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace d5 {

/// An axis of a plot.
struct PlotAxis {
  enum class Scale {
    linear,
    whole,  ///< linear, with ticks at integers only, as for epochs
    logarithmic
  };
  std::string label = {};  ///< "time"
  std::string unit = {};   ///< SI unit without prefix, which drawing chooses; "1" or empty: none
  Scale scale = Scale::linear;
  std::vector<std::string> names = {};  ///< tick labels of the integers from 0
};

struct PlotPoint {
  double x = 0, y = 0;
};

/// A shape, in the units of the axes. Points that are not finite, or not positive on a logarithmic
/// axis, are omitted.
struct PlotMark {
  enum class Shape {
    line,        ///< through the points
    faint_line,  ///< a line in the background, such as one run beside the mean
    dots,        ///< at each point
    box,         ///< each pair of points: opposite corners
    interval,    ///< each pair of points: the ends of an error bar
    rule,        ///< reference line through the first point: vertical, or horizontal without rows
    text,        ///< the mark's label alone: centred at the point in rows, else beside it
    key,         ///< the series' dot before each point's lane: identifies bars without colour
    disc         ///< a circle at each point, with an area in proportion to `weight`
  };
  Shape shape = Shape::dots;
  std::size_t series = 0;  ///< selects the colour, the shape of dots and the dashes
  std::vector<PlotPoint> points = {};
  std::string label = {};  ///< text beside the mark; a key below the plot if there is no room
  std::string tip = {};    ///< tooltip
  double weight = 1;       ///< from 0 to 1: depth of a box's colour, area of a disc
};

/// A labelled row, such as a subject or a thread. Lane i of n is centred at y = row + (i + 0.5) /
/// n.
struct PlotRow {
  std::string label = {};
  std::size_t lanes = 1;
};

/// A plot, independent of size and format.
///
///     Plot plot{.name = "loss", .title = "Loss", .x = {.label = "batch"}, .y = {.label = "loss"}};
///     plot.marks.push_back({.shape = PlotMark::Shape::line, .points = points});
///     write_file("loss.svg", to_svg(plot));
struct Plot {
  std::string name = {};  ///< identifier, one word: "samples-time"
  std::string title = {};
  std::string note = {};  ///< note for the reader, below the title
  PlotAxis x = {}, y = {};
  std::vector<PlotRow> rows = {};        ///< from the top, counted by y. Empty: y is a numeric axis
  std::vector<std::string> series = {};  ///< names for the legend, which omits empty ones
  std::vector<PlotMark> marks = {};
};

/// A standalone SVG file, for a paper. `width` is in pixels and determines the height. Follows the
/// reader's light or dark theme. The colours are safe for colour-blind readers. All text is
/// escaped.
/// Source: colours of Okabe and Ito, "Color Universal Design" (2008), darkened where they are too
/// faint on white.
[[nodiscard]] std::string to_svg(const Plot& plot, int width = 640);

/// The plot as PNG on white, with `scale` pixels per SVG pixel. Drawn by librsvg, which is loaded
/// at run time. Throws: Unsupported, with the reason, if librsvg is missing.
[[nodiscard]] std::string to_png(const Plot& plot, int width = 640, double scale = 2);

}  // namespace d5
