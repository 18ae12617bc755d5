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

/// The nodes of a model one after another, as who translates a whole model into a framework's own
/// words needs them: with types, shapes, and the values that are known before anything runs. Nodes
/// that compute small integers of such values (or of shapes), as exported networks do for theirs,
/// are computed by the reference, and not visited.
///
///     ModelWalk walk(model.graph, {.mode = Mode::inference});
///     walk.visit([&](const PlanContext& node) { translate(node); });
class ModelWalk {
 public:
  struct Purpose {
    Mode mode = Mode::inference;
    bool differentiable = false;  ///< gradients will be asked for, of whatever has some
  };

  /// `graph` stays until the walk is over. Throws: Unsupported for an input that is no tensor of
  /// fixed sizes.
  ModelWalk(const onnx::Graph& graph, Purpose purpose);

  /// Once. `node` is valid while it is visited. Throws: what `visit` does; Unsupported for a node
  /// whose output only running can describe, what the reference knows no meaning of; ShapeError,
  /// TypeError.
  void visit(const std::function<void(const PlanContext& node)>& visit);

  /// What is known of it so far. Throws: NotFound.
  [[nodiscard]] const TensorDesc& desc(std::string_view name) const;
  /// The value of an initializer that is no input, or of what was computed; null otherwise.
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
