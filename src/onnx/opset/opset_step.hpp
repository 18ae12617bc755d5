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

/// What a graph's nodes can name, with what the graphs around it have.
struct ConversionScope {
  std::map<std::string, Type, std::less<>> types = {};
  std::map<std::string, Tensor, std::less<>> values = {};  ///< of initializers and constants
  const ConversionScope* outer = nullptr;
};

/// The names of a whole model: those that are taken, and those that something reads.
struct ConversionNames {
  std::set<std::string, std::less<>> taken, read;
};

/// One node on its way to the next opset version: what is known of the tensors that it reads, and
/// the nodes that take its place.
class OpsetStep {
 public:
  OpsetStep(ConversionScope& scope, ConversionNames& names, int version, int last,
            std::vector<Node>& made)
      : scope_(scope), names_(names), version_(version), last_(last), made_(made) {}

  /// The version that the step leads to, and the one that the whole conversion does.
  [[nodiscard]] int version() const { return version_; }
  [[nodiscard]] int last() const { return last_; }

  /// A node of the new version, or of a newer one that it names; in the order in which they run.
  void add(Node node);
  /// The same of ai.onnx, without a name.
  void add(const std::string& op_type, std::vector<std::string> inputs,
           std::vector<std::string> outputs,
           std::map<std::string, Attribute, std::less<>> attributes = {});
  /// A Constant before the nodes that are added next; its name begins with `stem`.
  std::string constant(const std::string& stem, Tensor value);
  [[nodiscard]] std::string unused_name(const std::string& stem);
  /// Puts a constant in the place of an input, where `name` is what ONNX calls that.
  void set_input(Node& node, std::size_t i, const std::string& name, Tensor value);

  /// Null where it is not known.
  [[nodiscard]] const Type* type(std::string_view name) const;
  [[nodiscard]] const Tensor* value(std::string_view name) const;
  /// Throws: Unsupported, in the name of `node`, where they are not known.
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

/// How operators become those of `version`, where that gave them another form or meaning.
struct OpsetChange {
  int version;
  std::vector<std::string_view> operators;
  std::function<void(OpsetStep& step, Node node)> convert;
};
using OpsetChanges = std::vector<OpsetChange>;

[[nodiscard]] OpsetChanges input_changes();          ///< attributes that became inputs
[[nodiscard]] OpsetChanges broadcasting_changes();   ///< which axes of two operands meet
[[nodiscard]] OpsetChanges resampling_changes();     ///< Resize, Upsample, RoiAlign, GridSample
[[nodiscard]] OpsetChanges normalization_changes();  ///< Softmax, BatchNormalization, Dropout
[[nodiscard]] OpsetChanges form_changes();           ///< names, types and defaults of attributes

/// Takes an attribute out of a node; nothing where it has none.
template <class T>
std::optional<T> taken(Node& node, std::string_view name) {
  const T* value = node.attribute<T>(name);
  if (!value) return std::nullopt;
  std::optional<T> result(*value);
  node.attributes.erase(node.attributes.find(name));
  return result;
}

}  // namespace d5::onnx::detail
