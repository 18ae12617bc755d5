// SPDX-License-Identifier: Apache-2.0
#include "core/report/mark_shapes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/report/palette.hpp"

namespace d5::detail {
namespace {

using MarkShape = PlotMark::Shape;
constexpr double kFaintest = 0.06;  ///< opacity of a box of weight 0

/// Series also differ in the shape of dots and the dashes of lines. Series of the same colour
/// differ in both.
std::size_t look_of(std::size_t series) { return series + series / kSeriesColours; }

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

/// Large enough for an edge that separates it from its neighbours.
bool is_large(Pixel a, Pixel b) { return std::abs(a.x - b.x) > 4 && std::abs(a.y - b.y) > 4; }
std::string box(Pixel a, Pixel b) {
  constexpr double kThinnest = 0.8;  // keeps short spans visible
  const double width = std::max(std::abs(b.x - a.x), kThinnest);
  return fmt::format("M{} h{:.2f} v{:.2f} h-{:.2f}z", at(std::min(a.x, b.x), std::min(a.y, b.y)),
                     width, std::abs(b.y - a.y), width);
}
std::string interval(Pixel a, Pixel b) {
  constexpr double kStop = 4;
  const bool level = std::abs(a.y - b.y) < std::abs(a.x - b.x) || a.y == b.y;
  const double dx = level ? 0 : kStop, dy = level ? kStop : 0;
  std::string d = fmt::format("M{} L{}", at(a.x, a.y), at(b.x, b.y));
  for (const auto& end : {a, b}) {
    d += fmt::format("M{} L{}", at(end.x - dx, end.y - dy), at(end.x + dx, end.y + dy));
  }
  return d;
}

std::string circle(Pixel p, double r) {
  return fmt::format("M{} a{:.1f} {:.1f} 0 1 0 {:.1f} 0 a{:.1f} {:.1f} 0 1 0 -{:.1f} 0z",
                     at(p.x - r, p.y), r, r, 2 * r, r, r, 2 * r);
}

}  // namespace

std::string at(double x, double y) { return fmt::format("{:.1f} {:.1f}", x, y); }

std::string dot_at(Pixel p, std::size_t series) {
  switch (look_of(series) % kSeriesColours) {
    case 0:
      return circle(p, 3.5);
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

double radius_of(const PlotMark& mark) {
  constexpr double kDot = 4, kLeast = 3;
  if (mark.shape == MarkShape::dots) return kDot;
  if (mark.shape != MarkShape::disc) return 0;
  return std::max(kLeast, PlotLayout::kLargestDisc * std::sqrt(std::clamp(mark.weight, 0.0, 1.0)));
}

std::vector<Pixel> pixels_of(const PlotMark& mark, const PlotLayout& layout) {
  std::vector<Pixel> pixels;
  for (const auto& [x, y] : mark.points) {
    const bool shown =
        layout.x.shows(x) && (layout.rows() > 0 ? std::isfinite(y) : layout.y.shows(y));
    if (shown) pixels.push_back({layout.x(x), layout.y_of(y)});
  }
  return pixels;
}

std::string paths_of(const PlotMark& mark, const std::vector<Pixel>& points,
                     const PlotLayout& layout) {
  std::string d, paint = "fill=\"currentColor\"";
  switch (mark.shape) {
    case MarkShape::dots:
      for (const auto& point : points) d += dot_at(point, mark.series);
      break;
    case MarkShape::text:
      return "";
    case MarkShape::key:
      for (const auto& point : points) d += dot_at({layout.left - 10, point.y}, mark.series);
      break;
    case MarkShape::box:
      for (std::size_t i = 0; i + 1 < points.size(); i += 2) d += box(points[i], points[i + 1]);
      if (mark.weight < 1) {
        paint += fmt::format(" fill-opacity=\"{:.2f}\"", kFaintest + (1 - kFaintest) * mark.weight);
      } else if (points.size() == 2 && is_large(points[0], points[1])) {
        paint += " class=\"edge\"";
      }
      break;
    case MarkShape::disc:
      for (const auto& point : points) d += circle(point, radius_of(mark));
      paint += " fill-opacity=\"0.3\" stroke=\"currentColor\"";
      break;
    case MarkShape::line: {
      for (const auto& point : thinned(points)) d += (d.empty() ? "M" : "L") + at(point.x, point.y);
      paint =
          "fill=\"none\" stroke=\"currentColor\" stroke-width=\"1.8\" "
          "stroke-linejoin=\"round\"" +
          dashes_of(mark.series);
      break;
    }
    case MarkShape::faint_line:
      for (const auto& point : thinned(points)) d += (d.empty() ? "M" : "L") + at(point.x, point.y);
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
      if (layout.rows() == 0) {
        d = fmt::format("M{} H{:.1f}", at(layout.left, points[0].y), layout.right);
      }
      for (std::size_t row = 0; row < layout.rows(); ++row) {  // not through its name
        const auto [top, bottom] = layout.lanes_of_row(row);
        d += fmt::format("M{} V{:.1f}", at(points[0].x, top), bottom);
      }
      return fmt::format(
          "<path class=\"ink\" fill=\"none\" stroke=\"currentColor\" "
          "stroke-dasharray=\"4 3\" d=\"{}\"/>",
          d);
  }
  return fmt::format("<path {} d=\"{}\"/>", paint, d);
}

}  // namespace d5::detail
