// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "d5/core/tensor/value.hpp"

namespace d5::onnx {

struct Graph;

/// ONNX's sparse tensor attribute: `values` at `indices` of a tensor of `shape`, zero elsewhere.
struct SparseTensor {
  Tensor values;
  Tensor indices;
  Shape shape;
};

/// A dimension of a declared type: a number, a symbolic name ("N"), or nothing.
using Dim = std::variant<std::monostate, std::int64_t, std::string>;

/// A type declared in a file. `ValueDesc` is the concrete type in a run.
struct Type {
  ValueKind kind = ValueKind::none;
  DType dtype = DType::undefined;  ///< a tensor's; for a map, its keys'
  bool has_shape = false;
  std::vector<Dim> dims;
  std::shared_ptr<const Type> element;  ///< content of a sequence, an optional or a map
  bool sparse = false;
};
/// "float32 Nx3x224x224", "sequence of int64 ?", ...
[[nodiscard]] std::string to_string(const Type& type);

using Attribute = std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>,
                               std::vector<float>, std::vector<std::string>, Tensor,
                               std::vector<Tensor>, SparseTensor, std::shared_ptr<const Graph>,
                               std::vector<std::shared_ptr<const Graph>>, Type, std::vector<Type>>;

/// A call of an operator. An input or output named "" is omitted.
struct Node {
  std::string name;
  std::string op_type;
  std::string domain;  ///< "" is ai.onnx
  int opset = 0;       ///< version of `domain`, from the model's imports
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::map<std::string, Attribute, std::less<>> attributes;
  std::string doc;

  /// Null if the attribute is absent. Throws: TypeError if it is of another type.
  template <class T>
  [[nodiscard]] const T* attribute(std::string_view name) const;
  [[nodiscard]] bool has_input(std::size_t i) const {
    return i < inputs.size() && !inputs[i].empty();
  }
  [[nodiscard]] bool has_output(std::size_t i) const {
    return i < outputs.size() && !outputs[i].empty();
  }
};

/// The node's name in messages: "Conv 'conv1'". Safe to print.
[[nodiscard]] std::string describe(const Node& node);

struct ValueInfo {
  std::string name;
  Type type;
};

/// Nodes in topological order, and the names they read and write.
struct Graph {
  std::string name;
  std::vector<Node> nodes;
  std::vector<ValueInfo> inputs;
  std::vector<ValueInfo> outputs;
  std::vector<ValueInfo> values;  ///< declared or inferred types of inner tensors
  std::map<std::string, Tensor, std::less<>> initializers;
  std::string doc;
};

/// A validated model, independent of its file. Functions are inlined.
struct Model {
  Graph graph;
  std::map<std::string, int> opset_imports;  ///< domain to version
  std::int64_t ir_version = 0;
  std::string producer_name, producer_version, domain, doc;
  std::int64_t model_version = 0;
  std::map<std::string, std::string> metadata;
};

[[noreturn]] void throw_wrong_attribute_type(const Node& node, std::string_view name);

template <class T>
const T* Node::attribute(std::string_view attribute_name) const {
  const auto place = attributes.find(attribute_name);
  if (place == attributes.end()) return nullptr;
  if (const T* value = std::get_if<T>(&place->second)) return value;
  throw_wrong_attribute_type(*this, attribute_name);
}

}  // namespace d5::onnx
