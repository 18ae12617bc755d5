// SPDX-License-Identifier: Apache-2.0
#include "d5/onnx/model.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/node_view.hpp"

namespace d5::onnx {

std::string describe(const Node& node) {
  std::string type = node.domain.empty() ? node.op_type : node.domain + "." + node.op_type;
  const std::string& name = !node.name.empty()      ? node.name
                            : !node.outputs.empty() ? node.outputs.front()
                                                    : node.name;
  return fmt::format("{} '{}'", printable(type), printable(name));
}

void throw_wrong_attribute_type(const Node& node, std::string_view name) {
  throw TypeError(fmt::format("{}: attribute {} is of another type than the operator's schema says",
                              describe(node), printable(name)));
}

void NodeView::throw_missing(std::string_view name) const {
  throw FormatError(
      fmt::format("{}: attribute {} is required but missing", describe(*node_), name));
}

std::string to_string(const Type& type) {
  if (type.kind == ValueKind::none) return "unknown";
  if (type.kind != ValueKind::tensor) {
    return fmt::format("{} of {}", name_of(type.kind),
                       type.element ? to_string(*type.element) : "unknown");
  }
  std::string dims;
  for (const Dim& dim : type.dims) {
    if (!dims.empty()) dims += 'x';
    if (const auto* number = std::get_if<std::int64_t>(&dim)) {
      dims += fmt::format("{}", *number);
    } else if (const auto* name = std::get_if<std::string>(&dim)) {
      dims += printable(*name);
    } else {
      dims += '?';
    }
  }
  if (!type.has_shape) dims = "of any shape";
  if (type.has_shape && type.dims.empty()) dims = "scalar";
  return fmt::format("{} {}", name_of(type.dtype), dims);
}

}  // namespace d5::onnx
