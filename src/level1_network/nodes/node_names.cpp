// SPDX-License-Identifier: Apache-2.0
#include "level1_network/nodes/node_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/nodes.hpp"
#include "d5/onnx/visitor.hpp"
#include "level1_network/nodes/differentiated_graph.hpp"

namespace d5 {
namespace {

using GraphPointer = std::shared_ptr<const onnx::Graph>;

void rename(std::string& name, const NewNames& names) {
  if (const auto place = names.find(name); place != names.end()) name = place->second;
}

std::set<std::string> defined_names(const onnx::Graph& graph) {
  std::set<std::string> names;
  for (const auto& input : graph.inputs) names.insert(input.name);
  for (const auto& [name, value] : graph.initializers) names.insert(name);
  for (const auto& node : graph.nodes) names.insert(node.outputs.begin(), node.outputs.end());
  return names;
}

/// `graph` itself if no captured value has a new name.
GraphPointer with_renamed_captures(const GraphPointer& graph, const NewNames& all,
                                   const onnx::Node& owner) {
  NewNames names;
  const std::set<std::string> own = defined_names(*graph);
  for (const auto& captured : onnx::captured_names(*graph)) {
    const auto place = all.find(captured);
    if (place == all.end()) continue;
    if (own.contains(place->second)) {
      throw ValueError(fmt::format(
          "{}: a graph in it reads '{}', which cannot be called '{}' there: that graph has a "
          "tensor of this name; choose another",
          onnx::describe(owner), printable(captured), printable(place->second)));
    }
    names.insert(*place);
  }
  if (names.empty()) return graph;
  auto result = std::make_shared<onnx::Graph>(*graph);
  for (auto& node : result->nodes) rename_reads(node, names);
  for (auto& output : result->outputs) rename(output.name, names);
  return result;
}

void rename_in_gradient(onnx::Node& node, const NewNames& names) {
  for (auto& [attribute, value] : node.attributes) {
    if (auto* name = std::get_if<std::string>(&value)) rename(*name, names);
    if (auto* list = std::get_if<std::vector<std::string>>(&value)) {
      for (auto& name : *list) rename(name, names);
    }
  }
}

}  // namespace

std::vector<std::string> read_names(const onnx::Node& node) {
  std::vector<std::string> result;
  for (const auto& input : node.inputs) {
    if (!input.empty()) result.push_back(input);
  }
  for (const auto& [attribute, subgraph] : onnx::subgraphs(node)) {
    for (auto& name : onnx::captured_names(*subgraph)) result.push_back(std::move(name));
  }
  if (is_gradient(node)) result.push_back(onnx::nodes::training::Gradient(node).y());
  return result;
}

void rename_reads(onnx::Node& node, const NewNames& names) {
  for (auto& input : node.inputs) rename(input, names);
  for (auto& [attribute, value] : node.attributes) {
    if (auto* graph = std::get_if<GraphPointer>(&value)) {
      *graph = with_renamed_captures(*graph, names, node);
    } else if (auto* graphs = std::get_if<std::vector<GraphPointer>>(&value)) {
      for (auto& one : *graphs) one = with_renamed_captures(one, names, node);
    }
  }
  if (is_gradient(node)) rename_in_gradient(node, names);
}

std::string first_output(const onnx::Node& node) {
  const auto place = std::ranges::find_if(node.outputs, [](const auto& o) { return !o.empty(); });
  return place == node.outputs.end() ? "" : *place;
}

std::string layer_of(const std::string& name) {
  const char separator = name.find('/') == std::string::npos ? '.' : '/';
  const std::size_t start = name.starts_with(separator) ? 1 : 0;
  const std::size_t last = name.rfind(separator);
  if (last == std::string::npos || last < start) return name;
  const std::size_t first = name.find(separator, start);
  return name.substr(start, std::min(name.find(separator, first + 1), last) - start);
}

}  // namespace d5
