// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "d5/onnx/schema.hpp"

namespace d5 {

/// Element types by tensor name; unknown ones are missing.
using ElementTypes = std::map<std::string, DType, std::less<>>;

/// Tensors with numbers that a shorter type cannot hold, each with the reason: "holds 1e-12, which
/// is 0 in float16".
using LostNumbers = std::map<std::string, std::string, std::less<>>;

/// Decides which float32 inputs and outputs of a node can have a shorter floating-point type, by
/// ONNX's schema. The node must outlive it.
class ShorterNode {
 public:
  /// Nodes that read `lost` tensors stay in float32.
  ShorterNode(const onnx::Node& node, const ElementTypes& types, const LostNumbers& lost,
              DType shorter);

  /// Reason why it stays in float32; empty if it need not, or if nothing of it is float32.
  [[nodiscard]] const std::string& obstacle() const { return obstacle_; }
  /// The tensor whose numbers are the reason; empty for another reason.
  [[nodiscard]] const std::string& lost() const { return lost_; }
  /// Keeps the node in float32, with a reason that is reported if it would otherwise become
  /// shorter.
  void stay(const std::string& reason);
  [[nodiscard]] bool changes() const { return !inputs_.empty() || !outputs_.empty(); }
  [[nodiscard]] bool reads(std::size_t input) const { return inputs_.contains(input); }
  [[nodiscard]] bool writes(std::size_t output) const { return outputs_.contains(output); }
  /// The node with the shorter type in its attributes.
  [[nodiscard]] onnx::Node node() const;

 private:
  void read(const onnx::Schema& schema, const ElementTypes& types, const LostNumbers& lost);
  /// Checks for an epsilon that vanishes in the shorter type, or nearly does: implementations
  /// differ in the type in which they add it.
  void look_at_epsilon();
  [[nodiscard]] bool allowed(const onnx::Parameter* parameter) const;
  /// Empty if no attribute is float32.
  [[nodiscard]] std::optional<onnx::Node> with_attributes() const;

  const onnx::Node& node_;
  DType shorter_;
  std::string obstacle_, lost_;
  std::set<std::size_t> inputs_, outputs_;
};

namespace detail {
/// `undefined` if it is unknown.
[[nodiscard]] DType type_at(const ElementTypes& types, std::string_view name);
}  // namespace detail

}  // namespace d5
