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

/// Tensors whose numbers a shorter type does not hold, each with what it is not: "holds 1e-12,
/// which is 0 in float16".
using LostNumbers = std::map<std::string, std::string, std::less<>>;

/// Decides which float32 inputs and outputs of a node can have a shorter floating-point type, by
/// ONNX's schema. The node must outlive it.
class ShorterNode {
 public:
  /// Nodes that read `lost` tensors stay in float32.
  ShorterNode(const onnx::Node& node, const ElementTypes& types, const LostNumbers& lost,
              DType shorter);

  /// Why it stays as it is; empty: it need not, or there is nothing of float32.
  [[nodiscard]] const std::string& obstacle() const { return obstacle_; }
  /// The tensor whose numbers are why; empty: it is something else.
  [[nodiscard]] const std::string& lost() const { return lost_; }
  /// Nothing of it becomes shorter, for a reason that counts where something would.
  void stay(const std::string& reason);
  [[nodiscard]] bool changes() const { return !inputs_.empty() || !outputs_.empty(); }
  [[nodiscard]] bool reads(std::size_t input) const { return inputs_.contains(input); }
  [[nodiscard]] bool writes(std::size_t output) const { return outputs_.contains(output); }
  /// The node with the shorter type in its attributes.
  [[nodiscard]] onnx::Node node() const;

 private:
  void read(const onnx::Schema& schema, const ElementTypes& types, const LostNumbers& lost);
  /// An epsilon that is nothing in the shorter type, or much less: implementations differ in which
  /// type they add it.
  void look_at_epsilon();
  [[nodiscard]] bool allowed(const onnx::Parameter* parameter) const;
  /// Nothing where no attribute says float32.
  [[nodiscard]] std::optional<onnx::Node> with_attributes() const;

  const onnx::Node& node_;
  DType shorter_;
  std::string obstacle_, lost_;
  std::set<std::size_t> inputs_, outputs_;
};

namespace detail {
/// `undefined` where it is not known.
[[nodiscard]] DType type_at(const ElementTypes& types, std::string_view name);
}  // namespace detail

}  // namespace d5
