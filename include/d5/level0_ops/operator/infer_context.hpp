// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "d5/core/tensor/value.hpp"
#include "d5/level0_ops/operator/integers_input.hpp"
#include "d5/onnx/model.hpp"

namespace d5 {

/// The description of a tensor whose shape, and possibly rank, is known only at run time. A shape
/// of fixed rank cannot express this, because a scalar has no dimension to be unknown.
[[nodiscard]] inline TensorDesc unknown_shape(DType dtype) { return {dtype, Shape{kUnknownDim}}; }

/// Information on an operator's inputs before it runs: their descriptions, and the values of
/// constants (initializers, results of constant nodes; at run time, all inputs).
class InferContext {
 public:
  /// `inputs` and `constants` are indexed like the node's inputs; an omitted input has kind none.
  InferContext(const onnx::Node& node, std::span<const ValueDesc> inputs,
               std::span<const Value* const> constants)
      : node_(node), inputs_(inputs), constants_(constants) {}

  [[nodiscard]] const onnx::Node& node() const { return node_; }
  [[nodiscard]] std::size_t input_count() const { return inputs_.size(); }
  [[nodiscard]] std::size_t output_count() const { return node_.outputs.size(); }
  [[nodiscard]] bool has_input(std::size_t i) const {
    return i < inputs_.size() && inputs_[i].kind != ValueKind::none;
  }
  [[nodiscard]] bool wants_output(std::size_t i) const { return node_.has_output(i); }

  /// Throws: ShapeError if the input is omitted, TypeError if it is not a tensor.
  [[nodiscard]] const TensorDesc& input(std::size_t i) const;
  [[nodiscard]] const Shape& shape(std::size_t i) const { return input(i).shape; }
  [[nodiscard]] DType dtype(std::size_t i) const { return input(i).dtype; }
  /// The input's description, for any kind of value.
  [[nodiscard]] const ValueDesc& value(std::size_t i) const;
  /// Null if the value is not known yet or omitted.
  [[nodiscard]] const Tensor* constant(std::size_t i) const;
  [[nodiscard]] const Value* constant_value(std::size_t i) const {
    return i < constants_.size() ? constants_[i] : nullptr;
  }
  /// Input `i` as integers (int32 or int64) that determine a shape. Older opsets may have
  /// `attribute` instead. Throws: TypeError for another element type.
  [[nodiscard]] IntegersInput integers(
      std::size_t i, const std::optional<std::vector<std::int64_t>>& attribute = {}) const;

  /// The start of every message: "Gemm 'fc1'".
  [[nodiscard]] std::string who() const { return onnx::describe(node_); }

 private:
  const onnx::Node& node_;
  std::span<const ValueDesc> inputs_;
  std::span<const Value* const> constants_;
};

}  // namespace d5
