// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include <type_traits>

namespace d5::onnx::detail {

/// Calls `visit(node, nesting)` for every node of a graph or a function, subgraphs included; a node
/// before the nodes of its subgraphs. protobuf's limit on messages bounds the nesting.
template <class Holder, class F>
void for_each_node(Holder& holder, F&& visit, int nesting = 0) {
  constexpr bool is_const = std::is_const_v<Holder>;
  const auto nodes = [&]() -> auto& {
    if constexpr (is_const) {
      return holder.node();
    } else {
      return *holder.mutable_node();
    }
  };
  for (auto& node : nodes()) {
    visit(node, nesting);
    if constexpr (is_const) {
      for (const auto& attribute : node.attribute()) {
        if (attribute.has_g()) for_each_node(attribute.g(), visit, nesting + 1);
        for (const auto& graph : attribute.graphs()) for_each_node(graph, visit, nesting + 1);
      }
    } else {
      for (auto& attribute : *node.mutable_attribute()) {
        if (attribute.has_g()) for_each_node(*attribute.mutable_g(), visit, nesting + 1);
        for (auto& graph : *attribute.mutable_graphs()) for_each_node(graph, visit, nesting + 1);
      }
    }
  }
}

}  // namespace d5::onnx::detail
