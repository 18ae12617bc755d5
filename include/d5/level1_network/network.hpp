// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "d5/core/value.hpp"
#include "d5/onnx/model.hpp"

namespace d5 {

/// A trainable tensor of a network: an initializer that gradients are computed for.
struct Parameter {
  std::string name;
  Tensor value;     ///< a slice of the network's parameter arena
  Tensor gradient;  ///< a slice of the gradient arena; written by backpropagation
};

/// A directed acyclic graph of named nodes and tensors, with its parameters.
///
/// Built from a file or by code:
///
///     Network network("lenet");
///     network.add_input("image", DType::float32, {"N", 1, 28, 28});
///     network.add_parameter("w", Tensor::zeros(DType::float32, {10, 784}));
///     network.add_node("Flatten", {"image"}, {"x"});
///     network.add_node("Gemm", {"x", "w"}, {"y"}, {{"transB", std::int64_t{1}}});
///     network.add_output("y");
///
/// Parameters and gradients live in two arenas in the order in which backpropagation finishes them
/// (the last layer's first), so that a bucket for communication is a slice.
class Network {
 public:
  explicit Network(std::string name);
  /// Floating-point initializers that reach a node become parameters.
  explicit Network(onnx::Model model);
  /// Throws: as `onnx::load`.
  [[nodiscard]] static Network load(const std::string& path);
  void save(const std::string& path) const;

  // Editing. Each throws ValueError for a duplicate name, NotFound for an unknown one.
  void add_input(const std::string& name, DType dtype, std::vector<onnx::Dim> dims);
  void add_output(const std::string& name);
  void add_parameter(const std::string& name, Tensor value);
  /// A tensor that is no parameter: shapes, axes, running statistics.
  void add_constant(const std::string& name, Tensor value);
  onnx::Node& add_node(const std::string& op_type, std::vector<std::string> inputs,
                       std::vector<std::string> outputs,
                       std::map<std::string, onnx::Attribute, std::less<>> attributes = {},
                       std::string name = {});
  void remove_node(const std::string& name);

  // Asking.
  [[nodiscard]] const std::string& name() const;
  [[nodiscard]] const onnx::Model& model() const;
  [[nodiscard]] const onnx::Graph& graph() const { return model().graph; }
  [[nodiscard]] const onnx::Node& node(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> input_names() const;  ///< without initializers
  [[nodiscard]] std::vector<std::string> output_names() const;

  // Values.
  [[nodiscard]] std::vector<Parameter>& parameters();
  [[nodiscard]] Parameter& parameter(std::string_view name);
  /// All parameters, all gradients, each as one 1-D tensor of the arena (padding is zero).
  [[nodiscard]] Tensor parameter_arena();
  [[nodiscard]] Tensor gradient_arena();
  /// The value of a parameter or constant. Throws: NotFound.
  [[nodiscard]] const Tensor& fetch(std::string_view name) const;
  /// Overwrites a parameter or constant. Throws: NotFound, ShapeError, TypeError.
  void feed(std::string_view name, const Tensor& value);

  /// Counts edits of the graph; an executor compiles again when it changed. Values do not count.
  [[nodiscard]] std::uint64_t revision() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace d5
