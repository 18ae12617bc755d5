// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/report/markup.hpp"
#include "core/report/palette.hpp"
#include "core/report/text_width.hpp"
#include "d5/level1_network/picture/network_drawing.hpp"
#include "level1_network/picture/graph_picture.hpp"
#include "level1_network/picture/layered_layout.hpp"

namespace d5 {
namespace {

constexpr double kLine = 15, kPadding = 8;
constexpr double kNarrowest = 28, kWidest = 320;  ///< limits of a line

using Size = LayeredLayout::Size;

/// Font size of a line's width; the first is bold.
double size_of_line(std::size_t line) {
  return detail::kTextSize * (line == 0 ? detail::kBold : 1);
}

Size size_of(const GraphPicture::Box& box) {
  double width = kNarrowest;
  for (std::size_t i = 0; i < box.lines.size(); ++i) {
    width = std::max(width, detail::text_width(box.lines[i], size_of_line(i)));
  }
  return {std::min(width, kWidest) + 2 * kPadding, double(box.lines.size()) * kLine + kPadding};
}

LayeredLayout layout_of(const GraphPicture& picture) {
  std::vector<Size> sizes;
  for (const auto& box : picture.boxes) sizes.push_back(size_of(box));
  LayeredLayout::Edges edges;
  for (const auto& edge : picture.edges) edges.emplace_back(edge.from, edge.to);
  return {sizes, edges};
}

/// A colour for each of the most frequent operators.
std::map<std::string, std::size_t> series_of(const GraphPicture& picture) {
  std::map<std::string, int> counts;
  for (const auto& box : picture.boxes) ++counts[box.op_type];
  counts.erase("");
  std::vector<std::pair<std::string, int>> most(counts.begin(), counts.end());
  std::ranges::stable_sort(most, std::greater<>(), &std::pair<std::string, int>::second);
  std::map<std::string, std::size_t> series;
  for (std::size_t i = 0; i < most.size() && i + 1 < detail::kSeriesColours; ++i) {
    series[most[i].first] = i;
  }
  return series;
}

std::string drawn_box(const GraphPicture::Box& box, LayeredLayout::Point centre,
                      const std::map<std::string, std::size_t>& series) {
  const Size size = size_of(box);
  const auto colour = series.find(box.op_type);
  const bool is_node = box.kind == GraphPicture::Kind::node;
  std::string text = fmt::format(
      "<g class=\"{}\"><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
      "rx=\"{}\" fill=\"currentColor\" fill-opacity=\"0.1\" stroke=\"currentColor\"/></g>\n",
      !is_node                 ? "ink"
      : colour != series.end() ? fmt::format("s{}", colour->second)
                               : fmt::format("s{}", detail::kSeriesColours - 1),
      centre.x - size.width / 2, centre.y - size.height / 2, size.width, size.height,
      is_node ? 3 : 12);
  double y = centre.y - size.height / 2 + kPadding / 2 + kLine * 0.75;
  for (std::size_t i = 0; i < box.lines.size(); ++i, y += kLine) {
    text += fmt::format(
        "<text class=\"{}\" fill=\"currentColor\" x=\"{:.1f}\" y=\"{:.1f}\"{}>{}</text>\n",
        i == 0 ? "ink" : "soft", centre.x, y, i == 0 ? " font-weight=\"600\"" : "",
        detail::escaped(detail::fitted(box.lines[i], kWidest, size_of_line(i))));
  }
  return text;
}

/// Draws curves between layers, and straight lines through layers.
std::string drawn_edge(const GraphPicture::Edge& edge,
                       const std::vector<LayeredLayout::Point>& way) {
  std::string path = fmt::format("M{:.1f} {:.1f}", way.front().x, way.front().y);
  for (std::size_t i = 1; i < way.size(); i += 2) {
    const double middle = (way[i - 1].y + way[i].y) / 2;
    path += fmt::format(" C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}", way[i - 1].x, middle,
                        way[i].x, middle, way[i].x, way[i].y);
    if (i + 1 < way.size()) path += fmt::format(" L{:.1f} {:.1f}", way[i + 1].x, way[i + 1].y);
  }
  return fmt::format(
      "<path class=\"soft\" d=\"{}\" fill=\"none\" stroke=\"currentColor\"{} "
      "marker-end=\"url(#arrow)\"><title>{}</title></path>\n",
      path, edge.captured ? " stroke-dasharray=\"4 3\"" : "", detail::escaped(edge.tensor));
}

}  // namespace

std::string to_svg(const Network& network) {
  const GraphPicture picture = picture_of(network);
  const LayeredLayout layout = layout_of(picture);
  const auto series = series_of(picture);
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" role=\"img\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\" "
      "font-size=\"12\" text-anchor=\"middle\">\n<title>{2}</title>\n<style>{3}</style>\n"
      "<defs><marker id=\"arrow\" class=\"soft\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" "
      "markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0 L8 4 L0 8z\" "
      "fill=\"currentColor\"/></marker></defs>\n"
      "{4}\n",
      layout.size().width, layout.size().height, detail::escaped(network.name()),
      detail::colour_rules(), detail::background());
  for (std::size_t i = 0; i < picture.edges.size(); ++i) {
    text += drawn_edge(picture.edges[i], layout.way(i));
  }
  for (std::size_t i = 0; i < picture.boxes.size(); ++i) {
    text += drawn_box(picture.boxes[i], layout.centre(i), series);
  }
  return text + "</svg>\n";
}

}  // namespace d5
