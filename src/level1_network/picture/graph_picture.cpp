// SPDX-License-Identifier: Apache-2.0
#include "level1_network/picture/graph_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "d5/onnx/file.hpp"
#include "d5/onnx/visitor.hpp"
#include "level1_network/nodes/node_names.hpp"

namespace d5 {
namespace {

using Kind = GraphPicture::Kind;

class Painter {
 public:
  explicit Painter(const Network& network)
      : network_(network), types_(onnx::types_of(network.model())) {}

  GraphPicture take() {
    for (const auto& name : network_.input_names()) {
      writers_[name] = add({.kind = Kind::input, .lines = {name, type_of(name)}});
    }
    for (const auto& node : network_.graph().nodes) add_node(node);
    for (const auto& name : network_.output_names()) {
      const auto writer = writers_.find(name);
      const std::size_t box = add({.kind = Kind::output, .lines = {name, type_of(name)}});
      if (writer != writers_.end()) picture_.edges.push_back({writer->second, box, name});
    }
    return std::move(picture_);
  }

 private:
  std::size_t add(GraphPicture::Box box) {
    std::erase(box.lines, "");
    picture_.boxes.push_back(std::move(box));
    return picture_.boxes.size() - 1;
  }

  void add_node(const onnx::Node& node) {
    const std::string op_type = (node.domain.empty() ? "" : node.domain + ".") + node.op_type;
    GraphPicture::Box box{.lines = {op_type, node.name, parameters_of(node)}, .op_type = op_type};
    for (const auto& [attribute, graph] : onnx::subgraphs(node)) {
      box.lines.push_back(fmt::format("{}: {}, {} node{}", attribute, graph->name,
                                      graph->nodes.size(), graph->nodes.size() == 1 ? "" : "s"));
    }
    box.lines.push_back(type_of(first_output(node)));
    const std::size_t place = add(std::move(box));
    std::set<std::string> read;
    for (const auto& name : read_names(node)) {
      const auto writer = writers_.find(name);
      if (writer == writers_.end() || !read.insert(name).second) continue;
      const bool captured = std::ranges::find(node.inputs, name) == node.inputs.end();
      picture_.edges.push_back({writer->second, place, name, captured});
    }
    for (const auto& output : node.outputs) {
      if (!output.empty()) writers_[output] = place;
    }
  }

  std::string type_of(const std::string& tensor) const {
    const auto place = types_.find(tensor);
    return place == types_.end() || place->second.kind == ValueKind::none
               ? ""
               : onnx::to_string(place->second);
  }

  /// "6x1x5x5, 6": the shapes of the parameters that the node reads.
  std::string parameters_of(const onnx::Node& node) const {
    std::string text;
    for (const auto& name : read_names(node)) {
      if (!network_.is_parameter(name)) continue;
      text += (text.empty() ? "" : ", ") + to_string(network_.fetch(name).shape());
    }
    return text.empty() ? "" : "parameters " + text;
  }

  const Network& network_;
  const std::map<std::string, onnx::Type, std::less<>> types_;
  std::map<std::string, std::size_t> writers_;
  GraphPicture picture_;
};

}  // namespace

GraphPicture picture_of(const Network& network) { return Painter(network).take(); }

}  // namespace d5
