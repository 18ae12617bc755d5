// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "d5/onnx/model.hpp"

namespace d5::onnx {

/// Base of the typed views in `d5/onnx/nodes.hpp`, which are generated from ONNX's schemas.
///
/// A view has, for operator Conv: `nodes::Conv::kName`, `kDomain`, `kSinceVersions` (every version
/// in which its schema changed); inputs and outputs by name as indices (`Conv::In::X`,
/// `Conv::Out::Y`; for a variadic one, the first); one function per attribute, for all versions:
/// - `std::string auto_pad()` returns the value, or the default in the schema of the node's opset;
///   for an attribute that every version requires, the value (FormatError if it is missing);
/// - `std::optional<...> kernel_shape()` if a version allows it to be absent without a default;
/// - if an attribute changed its type (`to` of Cast was a string), `to()` has the newest type, and
///   `to_v1()`, named after the first version that had it, the older one.
///
/// C++ keywords get an underscore. Domains: ai.onnx is `nodes::`, ai.onnx.ml `nodes::ml::`,
/// ai.onnx.preview `nodes::preview::`, ai.onnx.preview.training `nodes::training::`, com.microsoft
/// (ONNX Runtime's operators) `nodes::microsoft::`.
///
/// A view does not own its node, and must not outlive it.
class NodeView {
 public:
  explicit NodeView(const Node& node) : node_(&node) {}
  [[nodiscard]] const Node& node() const { return *node_; }

 protected:
  [[nodiscard]] bool has_attribute(std::string_view name) const {
    return node_->attributes.contains(name);
  }
  template <class T>
  [[nodiscard]] std::optional<T> optional_attribute(std::string_view name) const {
    const T* value = node_->attribute<T>(name);
    return value ? std::optional<T>(*value) : std::nullopt;
  }
  template <class T>
  [[nodiscard]] T attribute_or(std::string_view name, T fallback) const {
    const T* value = node_->attribute<T>(name);
    return value ? *value : std::move(fallback);
  }
  /// Throws: FormatError if the attribute is missing.
  template <class T>
  [[nodiscard]] T required_attribute(std::string_view name) const {
    if (const T* value = node_->attribute<T>(name)) return *value;
    throw_missing(name);
  }

 private:
  [[noreturn]] void throw_missing(std::string_view name) const;
  const Node* node_;
};

}  // namespace d5::onnx
