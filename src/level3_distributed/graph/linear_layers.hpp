// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "d5/level1_network/graph/network.hpp"
#include "level3_distributed/graph/tensor_pairs.hpp"

namespace d5::detail {

/// y = x W + b.
struct Linear {
  std::string weight, bias;  // bias empty: none
  std::size_t in = 0;        // axis of the weight
  std::int64_t units_in = 0, units_out = 0;
};

/// The linear layers of a network, for partitions.
class LinearLayers {
 public:
  explicit LinearLayers(const Network& network) : network_(network) {}

  [[nodiscard]] const Network& network() const { return network_; }
  [[nodiscard]] const std::vector<onnx::Node>& nodes() const { return network_.graph().nodes; }
  [[nodiscard]] std::size_t place_of(const onnx::Node& node) const {
    return std::size_t(&node - nodes().data());
  }
  /// nullopt for a node that is not a Gemm or MatMul with its own parameter.
  [[nodiscard]] std::optional<Linear> linear(const onnx::Node& node) const;
  /// Whether exactly one node reads the tensor, and it is not an output of the network.
  [[nodiscard]] bool has_one_reader(const std::string& tensor) const;
  [[nodiscard]] bool is_unread(const std::string& tensor) const;
  /// Whether it is a parameter with one element per unit.
  [[nodiscard]] bool is_row(const std::string& name, std::int64_t units) const;
  [[nodiscard]] CutParameter row_cut(const std::string& name) const;
  [[nodiscard]] bool is_scalar(const std::string& name) const;
  /// The node of this operator that writes `tensor` for a single reader; null if there is none.
  [[nodiscard]] const onnx::Node* source(const std::string& tensor, std::string_view op_type) const;
  /// Adds the weight and bias of a layer that is cut by columns.
  void cut_columns(const Linear& layer, TensorPair& pair) const;

 private:
  [[nodiscard]] bool is_output(const std::string& tensor) const;
  [[nodiscard]] bool is_own_parameter(const std::string& name) const {
    return network_.is_parameter(name) && has_one_reader(name);
  }

  const Network& network_;
};

[[nodiscard]] bool is_standard(const onnx::Node& node, std::string_view op_type);

template <class T>
T attribute_or(const onnx::Node& node, std::string_view name, T usual) {
  const T* value = node.attribute<T>(name);
  return value ? *value : usual;
}

}  // namespace d5::detail
