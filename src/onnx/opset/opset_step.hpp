// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "d5/onnx/model.hpp"

namespace d5::onnx::detail {

/// The names visible to a graph's nodes, including those of enclosing graphs.
struct ConversionScope {
  std::map<std::string, Type, std::less<>> types = {};
  std::map<std::string, Tensor, std::less<>> values = {};  ///< values of initializers and constants
  const ConversionScope* outer = nullptr;
};

/// The names of a whole model: those in use, and those that are read.
struct ConversionNames {
  std::set<std::string, std::less<>> taken, read;
};

/// Conversion of one node to the next opset version: information on its inputs, and the nodes that
/// replace it.
class OpsetStep {
 public:
  OpsetStep(ConversionScope& scope, ConversionNames& names, int version, int last,
            std::vector<Node>& made)
      : scope_(scope), names_(names), version_(version), last_(last), made_(made) {}

  /// The target versions of the step and of the whole conversion.
  [[nodiscard]] int version() const { return version_; }
  [[nodiscard]] int last() const { return last_; }

  /// Adds a node of the new version, or of a newer one in its `opset`, in execution order.
  void add(Node node);
  /// Adds a node of ai.onnx, without a name.
  void add(const std::string& op_type, std::vector<std::string> inputs,
           std::vector<std::string> outputs,
           std::map<std::string, Attribute, std::less<>> attributes = {});
  /// Adds a Constant before the next nodes; its name begins with `stem`.
  std::string constant(const std::string& stem, Tensor value);
  [[nodiscard]] std::string unused_name(const std::string& stem);
  /// Replaces an input by a constant; `name` is ONNX's name of the input.
  void set_input(Node& node, std::size_t i, const std::string& name, Tensor value);

  /// The type of a value; null if unknown.
  [[nodiscard]] const Type* type(std::string_view name) const;
  [[nodiscard]] const Tensor* value(std::string_view name) const;
  /// Throws: Unsupported, with `node` in the message, if unknown.
  [[nodiscard]] std::size_t rank(const Node& node, std::string_view name) const;
  [[nodiscard]] DType dtype(const Node& node, std::string_view name) const;
  [[nodiscard]] bool is_read(std::string_view name) const { return names_.read.contains(name); }

 private:
  ConversionScope& scope_;
  ConversionNames& names_;
  int version_, last_;
  std::vector<Node>& made_;
};

/// Throws: Unsupported.
[[noreturn]] void refuse_conversion(const Node& node, const std::string& reason);

/// Conversions of operators whose form or meaning changed in `version`.
struct OpsetChange {
  int version;
  std::vector<std::string_view> operators;
  std::function<void(OpsetStep& step, Node node)> convert;
};
using OpsetChanges = std::vector<OpsetChange>;

[[nodiscard]] OpsetChanges input_changes();          ///< attributes that became inputs
[[nodiscard]] OpsetChanges broadcasting_changes();   ///< alignment of two operands' axes
[[nodiscard]] OpsetChanges resampling_changes();     ///< Resize, Upsample, RoiAlign, GridSample
[[nodiscard]] OpsetChanges normalization_changes();  ///< Softmax, BatchNormalization, Dropout
[[nodiscard]] OpsetChanges form_changes();           ///< names, types and defaults of attributes

/// Removes an attribute from a node and returns it; nothing if it is absent.
template <class T>
std::optional<T> taken(Node& node, std::string_view name) {
  const T* value = node.attribute<T>(name);
  if (!value) return std::nullopt;
  std::optional<T> result(*value);
  node.attributes.erase(node.attributes.find(name));
  return result;
}

}  // namespace d5::onnx::detail
