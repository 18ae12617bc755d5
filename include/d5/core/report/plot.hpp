// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace d5 {

/// What an edge of a plot counts.
struct PlotAxis {
  enum class Scale {
    linear,
    whole,  ///< linear, with ticks at whole numbers alone: epochs
    logarithmic
  };
  std::string label = {};  ///< "time"
  std::string unit = {};   ///< SI, without prefix: drawing chooses one; "1" or empty for none
  Scale scale = Scale::linear;
  std::vector<std::string> names = {};  ///< of the whole numbers from 0, on their ticks
};

struct PlotPoint {
  double x = 0, y = 0;
};

/// One shape, in the units of the axes. What is not finite, or not positive on a logarithmic axis,
/// is left out.
struct PlotMark {
  enum class Shape {
    line,        ///< through the points
    faint_line,  ///< the same, for what a bolder one sums up
    dots,        ///< at each point
    box,         ///< each two points are opposite corners
    interval,    ///< from each first point to each second, with a stop at both ends
    rule,        ///< a reference: upright through the first point, or level if there is no row
    text,        ///< its label alone, behind the point
    key          ///< the dot of its series, before each point's lane: tells bars without colour
  };
  Shape shape = Shape::dots;
  std::size_t series = 0;  ///< decides the colour, the shape of dots and the dashes
  std::vector<PlotPoint> points = {};
  std::string label = {};  ///< written beside it
  std::string tip = {};    ///< shown where a pointer rests
};

/// What shares a heading: a subject, a thread. Lane i of n is drawn around y = row + (i + 0.5) / n.
struct PlotRow {
  std::string label = {};
  std::size_t lanes = 1;
};

/// A picture of numbers, before it has a size or a format.
///
///     Plot plot{.name = "loss", .title = "Loss", .x = {.label = "batch"}, .y = {.label = "loss"}};
///     plot.marks.push_back({.shape = PlotMark::Shape::line, .points = points});
///     write_file("loss.svg", to_svg(plot));
struct Plot {
  std::string name = {};  ///< one word, by which it is asked for: "samples-time"
  std::string title = {};
  std::string note = {};  ///< what a reader has to know, below the title
  PlotAxis x = {}, y = {};
  std::vector<PlotRow> rows = {};  ///< from the top; y counts them. None: y is an axis of numbers
  std::vector<std::string> series = {};  ///< names for the legend, which has no empty one
  std::vector<PlotMark> marks = {};
};

/// A file of its own, for a paper: `width` is in pixels, the height follows. Light or dark as the
/// reader's system is, in colours that colour-blind people tell apart; all text is escaped. Source
/// of the colours: Okabe and Ito, "Color Universal Design" (2008), darkened where they are too
/// faint on white.
[[nodiscard]] std::string to_svg(const Plot& plot, int width = 640);

/// The same in pixels on white, `scale` of them to one of the SVG's. librsvg draws it, looked for
/// at run time. Throws: Unsupported, with the reason, where it is absent.
[[nodiscard]] std::string to_png(const Plot& plot, int width = 640, double scale = 2);

}  // namespace d5
