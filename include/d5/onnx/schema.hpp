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

/// What ONNX says of one input or output.
struct Parameter {
  std::string name;
  bool optional = false;            ///< may be left out
  bool variadic = false;            ///< the last one: it stands for all that follow, too
  bool non_differentiable = false;  ///< said so explicitly
  /// Parameters with the same word have the same type; "": each value has one of its own.
  std::string type;
  std::vector<ValueKind> kinds;
  std::vector<DType> element_types;  ///< of a tensor
};

/// What ONNX says of an operator in one opset version.
struct Schema {
  int least_inputs = 0, most_inputs = 0, least_outputs = 0, most_outputs = 0;
  std::vector<Parameter> inputs, outputs;
  std::map<std::string, AttributeKind, std::less<>> attributes;
  int since = 1;  ///< the opset version that gave it this meaning
  bool deprecated = false;
};

/// Of `node`'s operator, domain and opset; nothing where ONNX does not know it.
[[nodiscard]] std::optional<Schema> schema_of(const Node& node);

/// The parameter of value `i`: the last of `parameters` may stand for many. Null beyond them.
[[nodiscard]] const Parameter* parameter(const std::vector<Parameter>& parameters, std::size_t i);

/// "input 1 (condition)"; without the name where ONNX has none: how messages name an input.
[[nodiscard]] std::string describe_input(const Node& node, std::size_t i);

/// The newest opset version of `domain` that ONNX knows; 1 for a foreign domain.
[[nodiscard]] int newest_opset(std::string_view domain);

}  // namespace d5::onnx
