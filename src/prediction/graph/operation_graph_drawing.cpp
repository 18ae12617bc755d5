// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/report/markup.hpp"
#include "core/report/palette.hpp"
#include "core/report/text_width.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/results/results.hpp"
#include "d5/prediction/graph/operation_graph_file.hpp"
#include "level1_network/picture/layered_layout.hpp"

namespace d5 {
namespace {

constexpr double kLine = 15, kPadding = 8;
constexpr double kNarrowest = 28, kWidest = 320;  ///< limits of a line
constexpr std::array kColours = {"#cfe3f7", "#fbe0c5", "#d8efd3", "#f6d3d8", "#e3dcf2", "#ece6da"};

std::string within_quotes(std::string_view text) {
  std::string result;
  for (const char c : printable_message(text)) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

/// The text of a box: its name; then its kind and time.
std::array<std::string, 2> lines_of(const OperationGraph& graph, const Operation& operation) {
  const OperationLane& lane = graph.lanes()[operation.lane];
  const std::string where = lane.rank == OperationLane::kShared
                                ? lane.name
                                : fmt::format("rank {} {}", lane.rank, lane.name);
  return {operation.name,
          fmt::format("{}, {}, {}", operation.kind, where, with_prefix(operation.seconds, "s"))};
}

/// The colour of a lane: lanes of the same name look alike on all ranks.
std::size_t series_of(const OperationGraph& graph, std::size_t lane) {
  std::vector<std::string> names;
  for (const OperationLane& each : graph.lanes()) {
    if (std::ranges::find(names, each.name) == names.end()) names.push_back(each.name);
  }
  const auto place = std::ranges::find(names, graph.lanes()[lane].name);
  return static_cast<std::size_t>(place - names.begin()) % detail::kSeriesColours;
}

}  // namespace

std::string to_dot(const OperationGraph& graph) {
  std::string text = fmt::format(
      "digraph \"{}\" {{\n  node [shape=box, style=filled, fontname=\"sans-serif\", "
      "fontsize=10];\n",
      within_quotes(graph.name()));
  const auto ids = graph.ids();
  for (const auto id : ids) {
    const auto lines = lines_of(graph, graph.operation(id));
    text += fmt::format("  o{} [label=\"{}\\n{}\", fillcolor=\"{}\"];\n", id,
                        within_quotes(lines[0]), within_quotes(lines[1]),
                        kColours.at(series_of(graph, graph.operation(id).lane) % kColours.size()));
  }
  for (const auto id : ids) {
    for (const auto after : graph.successors(id)) text += fmt::format("  o{} -> o{};\n", id, after);
  }
  return text + "}\n";
}

std::string to_svg(const OperationGraph& graph) {
  const auto ids = graph.order();
  std::vector<std::size_t> box(graph.id_end());
  std::vector<LayeredLayout::Size> sizes;
  for (const auto id : ids) {
    box[id] = sizes.size();
    double width = kNarrowest;
    for (const auto& line : lines_of(graph, graph.operation(id))) {
      width = std::max(width, detail::text_width(line));
    }
    sizes.push_back({std::min(width, kWidest) + 2 * kPadding, 2 * kLine + kPadding});
  }
  LayeredLayout::Edges edges;
  for (const auto id : ids) {
    for (const auto after : graph.successors(id)) edges.emplace_back(box[id], box[after]);
  }
  const LayeredLayout layout(sizes, edges);
  std::string text = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" role=\"img\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"sans-serif\" "
      "font-size=\"12\" text-anchor=\"middle\">\n<title>{2}</title>\n<style>{3}</style>\n{4}\n",
      layout.size().width, layout.size().height, detail::escaped(graph.name()),
      detail::colour_rules(), detail::background());
  for (std::size_t i = 0; i < edges.size(); ++i) {
    std::string path;
    for (const auto& point : layout.way(i)) {
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : " L", point.x, point.y);
    }
    text += fmt::format("<path class=\"soft\" d=\"{}\" fill=\"none\" stroke=\"currentColor\"/>\n",
                        path);
  }
  for (const auto id : ids) {
    const auto centre = layout.centre(box[id]);
    const auto size = sizes[box[id]];
    text += fmt::format(
        "<g class=\"s{}\"><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
        "rx=\"3\" fill=\"currentColor\" fill-opacity=\"0.1\" stroke=\"currentColor\"/></g>\n",
        series_of(graph, graph.operation(id).lane), centre.x - size.width / 2,
        centre.y - size.height / 2, size.width, size.height);
    double y = centre.y - size.height / 2 + kPadding / 2 + kLine * 0.75;
    for (const auto& line : lines_of(graph, graph.operation(id))) {
      text += fmt::format(
          "<text class=\"ink\" fill=\"currentColor\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
          centre.x, y, detail::escaped(detail::fitted(line, kWidest)));
      y += kLine;
    }
  }
  return text + "</svg>\n";
}

}  // namespace d5
