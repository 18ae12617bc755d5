// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "d5/onnx/model.hpp"

namespace d5::onnx {

/// Visits a graph's nodes in order, subgraphs at their node, and calls the handler of each
/// operator.
///
///     int flops = 0;
///     Visitor visitor;
///     visitor.on<nodes::Conv>([&](const nodes::Conv& conv) { ... conv.kernel_shape() ... });
///     visitor.otherwise([&](const Node& node) { ... });
///     visitor.visit(model.graph);
class Visitor {
 public:
  template <class View, class F>
  void on(F&& f) {
    handlers_[{std::string(View::kDomain), std::string(View::kName)}] =
        [f = std::forward<F>(f)](const Node& node) { f(View(node)); };
  }
  void otherwise(std::function<void(const Node&)> f) { otherwise_ = std::move(f); }
  void on_enter(std::function<void(const Graph&)> f) { enter_ = std::move(f); }
  void on_leave(std::function<void(const Graph&)> f) { leave_ = std::move(f); }
  void visit(const Graph& graph) const;
  /// `visit` for a translation to `framework`, which must be complete: calls no handler if one is
  /// missing. Throws: Unsupported with all nodes without a handler, and the remedies.
  void translate(const Graph& graph, std::string_view framework) const;

 private:
  void collect_unhandled(const Graph& graph, std::vector<const Node*>& found) const;

  std::map<std::pair<std::string, std::string>, std::function<void(const Node&)>> handlers_;
  std::function<void(const Node&)> otherwise_;
  std::function<void(const Graph&)> enter_, leave_;
};

/// A node's graph attributes, by name.
[[nodiscard]] std::map<std::string, std::shared_ptr<const Graph>> subgraphs(const Node& node);

/// Checks that `nodes`, those without a translation to `framework`, is empty. Throws: Unsupported
/// with all nodes and the remedies.
void expect_none_untranslated(const std::vector<const Node*>& nodes, std::string_view framework);

/// Names that `graph` and its subgraphs capture: read but do not define.
[[nodiscard]] std::vector<std::string> captured_names(const Graph& graph);

}  // namespace d5::onnx
