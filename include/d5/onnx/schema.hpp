// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "d5/onnx/model.hpp"

namespace d5::onnx {

enum class AttributeKind {
  integer,
  real,
  text,
  integers,
  reals,
  texts,
  tensor,
  tensors,
  graph,
  graphs,
  other
};

/// ONNX's definition of an input or output.
struct Parameter {
  std::string name;
  bool optional = false;            ///< may be omitted
  bool variadic = false;            ///< the last one: also applies to all that follow
  bool non_differentiable = false;  ///< marked so explicitly
  /// Type variable: parameters with the same one have the same type. "": each value has its own
  /// type.
  std::string type;
  std::vector<ValueKind> kinds;
  std::vector<DType> element_types;  ///< allowed for tensors
};

/// ONNX's definition of an operator in one opset version.
struct Schema {
  int least_inputs = 0, most_inputs = 0, least_outputs = 0, most_outputs = 0;
  std::vector<Parameter> inputs, outputs;
  std::map<std::string, AttributeKind, std::less<>> attributes;
  int since = 1;  ///< the opset version that introduced this definition
  bool deprecated = false;
};

/// The schema for `node`'s operator, domain and opset; nothing if ONNX does not define it.
[[nodiscard]] std::optional<Schema> schema_of(const Node& node);

/// The parameter for value `i`, where the last of `parameters` may be variadic. Null beyond them.
[[nodiscard]] const Parameter* parameter(const std::vector<Parameter>& parameters, std::size_t i);

/// The input's name in messages: "input 1 (condition)", or without a name if ONNX has none.
[[nodiscard]] std::string describe_input(const Node& node, std::size_t i);

/// ONNX's newest opset version of `domain`; 1 for other domains.
[[nodiscard]] int newest_opset(std::string_view domain);

}  // namespace d5::onnx
