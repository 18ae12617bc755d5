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

/// What ONNX says of an operator in one opset version.
struct Schema {
  int least_inputs = 0, least_outputs = 0;
  std::map<std::string, AttributeKind, std::less<>> attributes;
  std::vector<bool> non_differentiable_outputs;  ///< said so explicitly; a variadic one comes last
};

/// Of `node`'s operator, domain and opset; nothing where ONNX does not know it.
[[nodiscard]] std::optional<Schema> schema_of(const Node& node);

/// The newest opset version of `domain` that ONNX knows; 1 for a foreign domain.
[[nodiscard]] int newest_opset(std::string_view domain);

}  // namespace d5::onnx
