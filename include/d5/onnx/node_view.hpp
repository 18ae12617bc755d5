// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "d5/onnx/model.hpp"

namespace d5::onnx {

/// Base of the typed views in `d5/onnx/nodes.hpp`, which are generated from ONNX's schemas.
///
/// A view has, for operator Conv: `nodes::Conv::kName`, `kDomain`, `kSinceVersions` (every version
/// in which its schema changed); inputs and outputs by name as indices (`Conv::In::X`,
/// `Conv::Out::Y`); one function an attribute over all versions: `auto_pad()` returns the value or
/// the schema's default; an attribute without default that may be absent returns a std::optional.
/// Domains: ai.onnx is `nodes::`, ai.onnx.ml `nodes::ml::`, ai.onnx.preview.training
/// `nodes::training::`. A node is not owned: a view lives no longer than its node.
class NodeView {
 public:
  explicit NodeView(const Node& node) : node_(&node) {}
  [[nodiscard]] const Node& node() const { return *node_; }

 protected:
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
