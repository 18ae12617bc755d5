// SPDX-License-Identifier: Apache-2.0
// Draws every plot of d5, for every format.
#include "core/report/plot_drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/report/markup.hpp"
#include "core/report/palette.hpp"
#include "core/report/plot_layout.hpp"

namespace d5 {
namespace detail {
namespace {

using MarkShape = PlotMark::Shape;
struct Pixel {
  double x, y;
};

std::string at(double x, double y) { return fmt::format("{:.1f} {:.1f}", x, y); }

/// Series also differ in the shape of dots and the dashes of lines. Series of the same colour
/// differ in both.
std::size_t look_of(std::size_t series) { return series + series / kSeriesColours; }

std::string dot_at(Pixel p, std::size_t series) {
  constexpr double r = 3.5;
  switch (look_of(series) % kSeriesColours) {
    case 0:
      return fmt::format("M{} a{} {} 0 1 0 {} 0 a{} {} 0 1 0 -{} 0z", at(p.x - r, p.y), r, r, 2 * r,
                         r, r, 2 * r);
    case 1:
      return fmt::format("M{} h{} v{} h-{}z", at(p.x - 3, p.y - 3), 6, 6, 6);
    case 2:
      return fmt::format("M{} l4 7 h-8z", at(p.x, p.y - 4));
    case 3:
      return fmt::format("M{} l4.5 4.5 l-4.5 4.5 l-4.5 -4.5z", at(p.x, p.y - 4.5));
    case 4:
      return fmt::format("M{} l4 -7 h-8z", at(p.x, p.y + 4));
    default:  // a cross
      return fmt::format("M{} h3v3h3v3h-3v3h-3v-3h-3v-3h3z", at(p.x - 1.5, p.y - 4.5));
  }
}

std::string dashes_of(std::size_t series) {
  constexpr std::array<const char*, kSeriesColours> dashes = {"",        "7 3",  "2 3",
                                                              "9 3 2 3", "14 4", "9 3 2 3 2 3"};
  const std::string dash = dashes[look_of(series) % dashes.size()];
  return dash.empty() ? "" : fmt::format(" stroke-dasharray=\"{}\"", dash);
}

/// Keeps the first, the lowest, the highest and the last point in each column of pixels. The
/// picture is unchanged, and the page small.
std::vector<Pixel> thinned(const std::vector<Pixel>& points) {
  std::vector<Pixel> result;
  for (auto begin = points.begin(); begin != points.end();) {
    const auto end = std::find_if(begin, points.end(), [&](const Pixel& p) {
      return std::floor(p.x) != std::floor(begin->x);
    });
    const auto [low, high] =
        std::minmax_element(begin, end, [](const Pixel& a, const Pixel& b) { return a.y < b.y; });
    std::array kept = {begin, low, high, end - 1};
    std::ranges::sort(kept);
    const auto last = std::unique(kept.begin(), kept.end());
    for (auto each = kept.begin(); each != last; ++each) result.push_back(**each);
    begin = end;
  }
  return result;
}

class Drawing {
 public:
  Drawing(const Plot& plot, int width) : plot_(plot), width_(width), layout_(plot, width) {}

  /// `before` precedes all drawn elements.
  std::string svg(const std::string& before) {
    frame();
    for (const auto& mark : plot_.marks) draw(mark);
    for (const auto& mark : plot_.marks) {
      if (!mark.label.empty()) label(mark, pixels_of(mark));
    }
    name_rows();
    return fmt::format(
               "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" role=\"img\" "
               "viewBox=\"0 0 {0} {1:.0f}\" width=\"{0}\" height=\"{1:.0f}\" font-size=\"12\" "
               "font-family=\"Helvetica, Arial, sans-serif\"><title>{2}</title>{3}",
               width_, layout_.height, escaped(plot_.title), before) +
           body_ + "</svg>\n";
  }

 private:
  void text(double x, double y, const std::string& words, const char* colour,
            const std::string& more = "") {
    body_ += fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\" fill=\"currentColor\"{}>{}</text>", x, y,
        colour, more, escaped(words));
  }
  void grid_line(double x1, double y1, double x2, double y2) {
    body_ += fmt::format("<path class=\"grid\" stroke=\"currentColor\" d=\"M{} L{}\"/>", at(x1, y1),
                         at(x2, y2));
  }

  void frame() {
    const double line = PlotLayout::kLine;
    double y = 15;
    for (const std::string& words : layout_.title) {
      text(2, y, words, "ink", " font-size=\"14\" font-weight=\"bold\"");
      y += line;
    }
    for (const std::string& words : layout_.note) {
      text(2, y, words, "soft");
      y += line;
    }
    for (const auto& [series, x, y] : layout_.legend) {
      body_ += fmt::format("<path class=\"s{}\" fill=\"currentColor\" d=\"{}\"/>",
                           series % kSeriesColours, dot_at({x + 6, y - 4}, series));
      text(x + 14, y, plot_.series[series], "ink");
    }
    for (const auto& tick : layout_.x.ticks()) {
      const double x = layout_.x(tick.value);
      grid_line(x, layout_.top, x, layout_.bottom);
      text(x, layout_.bottom + line, tick.text, "soft", " text-anchor=\"middle\"");
    }
    text((layout_.left + layout_.right) / 2, layout_.bottom + 2.2 * line, layout_.x.title(), "soft",
         " text-anchor=\"middle\"");
    if (plot_.rows.empty()) frame_of_numbers();
  }
  void frame_of_numbers() {
    text(2, layout_.top - 10, layout_.y.title(), "soft");
    for (const auto& tick : layout_.y.ticks()) {
      const double y = layout_.y(tick.value);
      grid_line(layout_.left, y, layout_.right, y);
      text(layout_.left - 6, y + 4, tick.text, "soft", " text-anchor=\"end\"");
    }
  }
  void name_rows() {
    const auto letters = std::size_t((width_ - 4) / PlotLayout::kLetter);
    for (std::size_t row = 0; row < plot_.rows.size(); ++row) {
      text(2, layout_.top_of_row(row) + 14, shortened(plot_.rows[row].label, letters), "ink halo");
    }
  }

  std::vector<Pixel> pixels_of(const PlotMark& mark) const {
    std::vector<Pixel> pixels;
    for (const auto& [x, y] : mark.points) {
      const bool shown = layout_.x.shows(x) && (plot_.rows.empty() ? layout_.y.shows(y) : true);
      if (shown) pixels.push_back({layout_.x(x), layout_.y_of(y)});
    }
    return pixels;
  }

  void draw(const PlotMark& mark) {
    const auto points = pixels_of(mark);
    const bool pairs = mark.shape == MarkShape::box || mark.shape == MarkShape::interval;
    if (points.empty() || (pairs && points.size() != mark.points.size())) return;
    body_ += fmt::format("<g class=\"s{}\">", mark.series % kSeriesColours);
    if (!mark.tip.empty()) body_ += "<title>" + escaped(mark.tip) + "</title>";
    body_ += path_of(mark, points) + "</g>";
  }

  std::string path_of(const PlotMark& mark, const std::vector<Pixel>& points) const {
    std::string d, paint = "fill=\"currentColor\"";
    switch (mark.shape) {
      case MarkShape::dots:
        for (const auto& point : points) d += dot_at(point, mark.series);
        break;
      case MarkShape::text:
        return "";
      case MarkShape::key:
        for (const auto& point : points) d += dot_at({layout_.left - 10, point.y}, mark.series);
        break;
      case MarkShape::box:
        for (std::size_t i = 0; i + 1 < points.size(); i += 2) d += box(points[i], points[i + 1]);
        if (points.size() == 2 && is_large(points[0], points[1])) paint += " class=\"edge\"";
        break;
      case MarkShape::line: {
        for (const auto& point : thinned(points))
          d += (d.empty() ? "M" : "L") + at(point.x, point.y);
        paint =
            "fill=\"none\" stroke=\"currentColor\" stroke-width=\"1.8\" "
            "stroke-linejoin=\"round\"" +
            dashes_of(mark.series);
        break;
      }
      case MarkShape::faint_line:
        for (const auto& point : thinned(points))
          d += (d.empty() ? "M" : "L") + at(point.x, point.y);
        paint = "fill=\"none\" stroke=\"currentColor\" stroke-opacity=\"0.35\"";
        break;
      case MarkShape::interval:
        for (std::size_t i = 0; i + 1 < points.size(); i += 2) {
          d += interval(points[i], points[i + 1]);
        }
        // An edge separates it from a bar of its own colour.
        return fmt::format(
            "<path class=\"edge\" fill=\"none\" stroke-width=\"4\" d=\"{0}\"/>"
            "<path fill=\"none\" stroke=\"currentColor\" stroke-width=\"1.6\" "
            "d=\"{0}\"/>",
            d);
      case MarkShape::rule:
        if (plot_.rows.empty()) {
          d = fmt::format("M{} H{:.1f}", at(layout_.left, points[0].y), layout_.right);
        }
        for (std::size_t row = 0; row < plot_.rows.size(); ++row) {  // not through its name
          const auto [top, bottom] = layout_.lanes_of_row(row);
          d += fmt::format("M{} V{:.1f}", at(points[0].x, top), bottom);
        }
        return fmt::format(
            "<path class=\"ink\" fill=\"none\" stroke=\"currentColor\" "
            "stroke-dasharray=\"4 3\" d=\"{}\"/>",
            d);
    }
    return fmt::format("<path {} d=\"{}\"/>", paint, d);
  }

  /// Large enough for an edge that separates it from its neighbours.
  static bool is_large(Pixel a, Pixel b) {
    return std::abs(a.x - b.x) > 4 && std::abs(a.y - b.y) > 4;
  }
  static std::string box(Pixel a, Pixel b) {
    constexpr double kThinnest = 0.8;  // keeps short spans visible
    const double width = std::max(std::abs(b.x - a.x), kThinnest);
    return fmt::format("M{} h{:.2f} v{:.2f} h-{:.2f}z", at(std::min(a.x, b.x), std::min(a.y, b.y)),
                       width, std::abs(b.y - a.y), width);
  }
  static std::string interval(Pixel a, Pixel b) {
    constexpr double kStop = 4;
    const bool level = std::abs(a.y - b.y) < std::abs(a.x - b.x) || a.y == b.y;
    const double dx = level ? 0 : kStop, dy = level ? kStop : 0;
    std::string d = fmt::format("M{} L{}", at(a.x, a.y), at(b.x, b.y));
    for (const auto& end : {a, b}) {
      d += fmt::format("M{} L{}", at(end.x - dx, end.y - dy), at(end.x + dx, end.y + dy));
    }
    return d;
  }

  /// Places the label after its mark in a row, otherwise above the last point, on the side with
  /// room, and below existing labels.
  void label(const PlotMark& mark, const std::vector<Pixel>& points) {
    if (points.empty()) return;
    const auto rightmost = std::ranges::max_element(points, {}, &Pixel::x);
    if (!plot_.rows.empty()) {
      const double middle = (points.front().y + points.back().y) / 2;
      text(rightmost->x + 7, middle + 4, mark.label, "ink halo");
      return;
    }
    const Pixel point = points.back();
    const bool at_right = point.x > layout_.left + 0.5 * (layout_.right - layout_.left);
    const bool at_top = point.y < layout_.top + 2 * PlotLayout::kLine;
    const double width = PlotLayout::kLetter * double(length_of(mark.label));
    Pixel place{point.x + (at_right ? -7 : 7), point.y + (at_top ? 18 : -9)};
    const auto covers = [&](const Pixel& other) {
      return std::abs(other.x - place.x) < width && std::abs(other.y - place.y) < 14;
    };
    while (std::ranges::any_of(labels_, covers)) place.y += 14;
    labels_.push_back(place);
    const std::string colour = fmt::format("halo s{}", mark.series % kSeriesColours);
    text(place.x, place.y, mark.label, colour.c_str(), at_right ? " text-anchor=\"end\"" : "");
  }

  const Plot& plot_;
  int width_;
  PlotLayout layout_;
  std::string body_;
  std::vector<Pixel> labels_;  ///< positions of labels in numeric plots
};

}  // namespace

std::string drawn(const Plot& plot, int width) { return Drawing(plot, width).svg(""); }

std::string drawn_key(std::size_t series) {
  return fmt::format(
      "<svg class=\"plot\" aria-hidden=\"true\" viewBox=\"0 0 12 12\" width=\"12\" "
      "height=\"12\"><path class=\"s{}\" fill=\"currentColor\" d=\"{}\"/></svg>",
      series % kSeriesColours, dot_at({6, 6}, series));
}

}  // namespace detail

std::string to_svg(const Plot& plot, int width) {
  constexpr int kNarrowest = 200;
  return detail::Drawing(plot, std::max(width, kNarrowest))
      .svg("<style>" + detail::colour_rules() + "</style>" + detail::background());
}

}  // namespace d5
