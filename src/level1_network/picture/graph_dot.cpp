// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/picture/network_drawing.hpp"
#include "level1_network/picture/graph_picture.hpp"

namespace d5 {
namespace {

/// Escapes a backslash and a quote for a quoted text.
std::string within_quotes(std::string_view text) {
  std::string result;
  for (const char c : printable_message(text)) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

std::string label_of(const GraphPicture::Box& box) {
  std::string label;
  for (const auto& line : box.lines) label += (label.empty() ? "" : "\\n") + within_quotes(line);
  return label;
}

}  // namespace

std::string to_dot(const Network& network) {
  const GraphPicture picture = picture_of(network);
  std::string text = fmt::format(
      "digraph \"{}\" {{\n  node [shape=box, fontname=\"sans-serif\", fontsize=10];\n"
      "  edge [fontname=\"sans-serif\", fontsize=9];\n",
      within_quotes(network.name()));
  for (std::size_t i = 0; i < picture.boxes.size(); ++i) {
    const auto& box = picture.boxes[i];
    text += fmt::format("  b{} [label=\"{}\"{}];\n", i, label_of(box),
                        box.kind == GraphPicture::Kind::node ? "" : ", shape=ellipse");
  }
  for (const auto& edge : picture.edges) {
    text += fmt::format("  b{} -> b{} [tooltip=\"{}\"{}];\n", edge.from, edge.to,
                        within_quotes(edge.tensor), edge.captured ? ", style=dashed" : "");
  }
  return text + "}\n";
}

}  // namespace d5
