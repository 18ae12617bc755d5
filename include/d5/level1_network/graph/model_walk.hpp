// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/tensor/value.hpp"
#include "d5/level0_ops/operator/plan_context.hpp"
#include "d5/onnx/model.hpp"

namespace d5 {

/// Visits the nodes of a model in order, for code that translates a whole model into a framework's
/// graph. Each node comes with types, shapes, and the values that are constant. Nodes that compute
/// small integers from constants or shapes, as exported networks often contain, are folded by the
/// reference and not visited.
///
///     ModelWalk walk(model.graph, {.mode = Mode::inference});
///     walk.visit([&](const PlanContext& node) { translate(node); });
class ModelWalk {
 public:
  struct Purpose {
    Mode mode = Mode::inference;
    bool differentiable = false;  ///< whether gradients will be computed
  };

  /// `graph` must outlive the walk. Throws: Unsupported for an input that is not a tensor of fixed
  /// size.
  ModelWalk(const onnx::Graph& graph, Purpose purpose);

  /// Visits all nodes; call it once. `node` is valid during its visit. Throws: what `visit` throws;
  /// Unsupported for a node whose output shape or type is known only at run time, or whose operator
  /// the reference does not know; ShapeError; TypeError.
  void visit(const std::function<void(const PlanContext& node)>& visit);

  /// Type and shape of a tensor, as far as they are known yet. Throws: NotFound.
  [[nodiscard]] const TensorDesc& desc(std::string_view name) const;
  /// Value of an initializer that is not an input, or of a folded tensor; null otherwise.
  [[nodiscard]] const Value* constant(std::string_view name) const;

 private:
  struct Known {
    ValueDesc desc;
    Value value = {};
  };
  void step(const onnx::Node& node, const std::function<void(const PlanContext&)>& visit);
  void compute(const onnx::Node& node);
  [[nodiscard]] const Known& known(std::string_view name) const;

  const onnx::Graph& graph_;
  Purpose purpose_;
  std::map<std::string, Known, std::less<>> tensors_;
};

}  // namespace d5
