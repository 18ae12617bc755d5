// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <queue>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "onnx/stages.hpp"

namespace d5::onnx::detail {
namespace {

using Nodes = google::protobuf::RepeatedPtrField<::onnx::NodeProto>;
using Visit = std::function<void(std::string_view)>;

/// Calls `visit` with each graph of the node.
template <class Node, class VisitGraph>
void for_graphs(Node& node, const VisitGraph& visit) {
  for (int i = 0; i < node.attribute_size(); ++i) {
    if constexpr (std::is_const_v<Node>) {
      const auto& attribute = node.attribute(i);
      if (attribute.has_g()) visit(attribute.g());
      for (const auto& graph : attribute.graphs()) visit(graph);
    } else {
      auto& attribute = *node.mutable_attribute(i);
      if (attribute.has_g()) visit(*attribute.mutable_g());
      for (auto& graph : *attribute.mutable_graphs()) visit(graph);
    }
  }
}

/// Calls `visit` with all names that the node and its graphs read.
void for_reads(const ::onnx::NodeProto& node, const Visit& visit) {
  for (const std::string& name : node.input()) visit(name);
  for_graphs(node, [&](const ::onnx::GraphProto& graph) {
    for (const auto& inner : graph.node()) for_reads(inner, visit);
    for (const auto& output : graph.output()) visit(output.name());
  });
}

/// For each node, the readers of its outputs, once per read.
std::vector<std::vector<int>> readers_of(const Nodes& nodes) {
  std::unordered_map<std::string_view, int> writers;
  for (int i = 0; i < nodes.size(); ++i) {
    for (const std::string& name : nodes[i].output()) {
      if (!name.empty()) writers.emplace(name, i);
    }
  }
  std::vector<std::vector<int>> readers(std::size_t(nodes.size()));
  for (int i = 0; i < nodes.size(); ++i) {
    for_reads(nodes[i], [&](std::string_view name) {
      if (const auto writer = writers.find(name); writer != writers.end()) {
        readers[std::size_t(writer->second)].push_back(i);
      }
    });
  }
  return readers;
}

bool is_ordered(const std::vector<std::vector<int>>& readers) {
  for (std::size_t i = 0; i < readers.size(); ++i) {
    for (const int reader : readers[i]) {
      if (reader <= int(i)) return false;
    }
  }
  return true;
}

/// A stable topological order. Has fewer nodes if there is a cycle.
std::vector<int> order_of(const std::vector<std::vector<int>>& readers) {
  std::vector<int> missing(readers.size());
  for (const auto& list : readers) {
    for (const int reader : list) ++missing[std::size_t(reader)];
  }
  std::priority_queue<int, std::vector<int>, std::greater<>> ready;
  for (std::size_t i = 0; i < missing.size(); ++i) {
    if (missing[i] == 0) ready.push(int(i));
  }
  std::vector<int> order;
  while (!ready.empty()) {
    order.push_back(ready.top());
    ready.pop();
    for (const int reader : readers[std::size_t(order.back())]) {
      if (--missing[std::size_t(reader)] == 0) ready.push(reader);
    }
  }
  return order;
}

void order_graph(::onnx::GraphProto& graph) {
  Nodes& nodes = *graph.mutable_node();
  for (auto& node : nodes) for_graphs(node, order_graph);
  const auto readers = readers_of(nodes);
  if (is_ordered(readers)) return;
  const auto order = order_of(readers);
  if (order.size() != readers.size()) return;  // the checker reports the node
  Nodes ordered;
  for (const int i : order) ordered.Add()->Swap(&nodes[i]);
  nodes.Swap(&ordered);
}

}  // namespace

void order_nodes(::onnx::ModelProto& model) { order_graph(*model.mutable_graph()); }

}  // namespace d5::onnx::detail
