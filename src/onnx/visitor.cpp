// SPDX-License-Identifier: Apache-2.0
#include "d5/onnx/visitor.hpp"

#include <fmt/format.h>

#include <set>

#include "d5/core/entries/option.hpp"
#include "d5/core/errors/error.hpp"

namespace d5::onnx {
namespace {

constexpr std::size_t kMostNamed = 20;  ///< limit of nodes in one message

using Names = std::set<std::string, std::less<>>;

/// Appends names to `captured`, in the order of reading, that `graph` reads and neither it nor
/// `outer` defines.
void collect_captured(const Graph& graph, Names defined, Names& seen,
                      std::vector<std::string>& captured) {
  for (const auto& input : graph.inputs) defined.insert(input.name);
  for (const auto& [name, value] : graph.initializers) defined.insert(name);
  const auto read = [&](const std::string& name) {
    if (name.empty() || defined.contains(name)) return;
    if (seen.insert(name).second) captured.push_back(name);
  };
  for (const auto& node : graph.nodes) {
    for (const auto& input : node.inputs) read(input);
    for (const auto& [attribute, subgraph] : subgraphs(node)) {
      collect_captured(*subgraph, defined, seen, captured);
    }
    defined.insert(node.outputs.begin(), node.outputs.end());
  }
  for (const auto& output : graph.outputs) read(output.name);
}

}  // namespace

std::map<std::string, std::shared_ptr<const Graph>> subgraphs(const Node& node) {
  using Shared = std::shared_ptr<const Graph>;
  std::map<std::string, Shared> result;
  for (const auto& [name, attribute] : node.attributes) {
    if (const auto* graph = std::get_if<Shared>(&attribute)) {
      result[name] = *graph;
    } else if (const auto* graphs = std::get_if<std::vector<Shared>>(&attribute)) {
      for (std::size_t i = 0; i < graphs->size(); ++i) {
        result[name + '[' + std::to_string(i) + ']'] = (*graphs)[i];
      }
    }
  }
  return result;
}

std::vector<std::string> captured_names(const Graph& graph) {
  Names seen;
  std::vector<std::string> captured;
  collect_captured(graph, {}, seen, captured);
  return captured;
}

void expect_none_untranslated(const std::vector<const Node*>& nodes, std::string_view framework) {
  if (nodes.empty()) return;
  std::string names;
  for (std::size_t i = 0; i < nodes.size() && i < kMostNamed; ++i) {
    names += (i == 0 ? "" : ", ") + describe(*nodes[i]);
  }
  if (nodes.size() > kMostNamed) names += ", ...";
  throw Unsupported(fmt::format(
      "{} has no translation for: {} ({} node{}); write a custom operator for it, or mix: "
      "{}",
      printable(framework), names, nodes.size(), nodes.size() == 1 ? "" : "s",
      option_word("framework", printable(framework) + "+reference")));
}

void Visitor::collect_unhandled(const Graph& graph, std::vector<const Node*>& found) const {
  for (const auto& node : graph.nodes) {
    if (!handlers_.contains({node.domain, node.op_type})) found.push_back(&node);
    for (const auto& [attribute, subgraph] : subgraphs(node)) collect_unhandled(*subgraph, found);
  }
}

void Visitor::translate(const Graph& graph, std::string_view framework) const {
  std::vector<const Node*> unhandled;
  if (!otherwise_) collect_unhandled(graph, unhandled);
  expect_none_untranslated(unhandled, framework);
  visit(graph);
}

void Visitor::visit(const Graph& graph) const {
  if (enter_) enter_(graph);
  for (const auto& node : graph.nodes) {
    const auto place = handlers_.find({node.domain, node.op_type});
    if (place != handlers_.end()) {
      place->second(node);
    } else if (otherwise_) {
      otherwise_(node);
    }
    for (const auto& [attribute, subgraph] : subgraphs(node)) visit(*subgraph);
  }
  if (leave_) leave_(graph);
}

}  // namespace d5::onnx
