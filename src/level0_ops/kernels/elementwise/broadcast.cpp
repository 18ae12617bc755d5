// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/elementwise/broadcast.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

Shape broadcast_inputs(const InferContext& context, std::size_t first, std::size_t last) {
  Shape result = context.shape(first);
  for (std::size_t i = first + 1; i < last; ++i) {
    try {
      result = broadcast(result, context.shape(i));
    } catch (const ShapeError& error) {
      throw ShapeError(fmt::format("{}: {}", context.who(), error.what()));
    }
  }
  return result;
}

void expect_same_types(const InferContext& context, std::size_t first, std::size_t last) {
  for (std::size_t i = first + 1; i < last; ++i) {
    if (context.dtype(i) != context.dtype(first)) {
      throw TypeError(fmt::format(
          "{}: input {} is {} but input {} is {}; they must have the same element type; add a Cast",
          context.who(), first, name_of(context.dtype(first)), i, name_of(context.dtype(i))));
    }
  }
}

Shape second_operand_shape(const InferContext& context) {
  const Shape &a = context.shape(0), &b = context.shape(1);
  const onnx::Node& node = context.node();
  if (node.opset >= 7 || !node.domain.empty() || a == b) return b;
  const auto* broadcast = node.attribute<std::int64_t>("broadcast");
  if (!broadcast || *broadcast == 0) {
    throw ShapeError(
        fmt::format("{}: {} and {} differ, and in opset {} they may only with the "
                    "attribute broadcast",
                    context.who(), to_string(a), to_string(b), node.opset));
  }
  const auto* given = node.attribute<std::int64_t>("axis");
  if (!given) return b;
  const std::size_t axis = normalize_axis(*given, a.rank(), context.who());
  if (axis + b.rank() > a.rank()) {
    throw ShapeError(fmt::format("{}: {} does not fit into {} from axis {} on", context.who(),
                                 to_string(b), to_string(a), axis));
  }
  Shape result = b;
  while (axis + result.rank() < a.rank()) result.push_back(1);
  return result;
}

Shape infer_binary_shape(const InferContext& context) {
  const Shape b = second_operand_shape(context);
  try {
    return broadcast(context.shape(0), b);
  } catch (const ShapeError& error) {
    throw ShapeError(fmt::format("{}: {}", context.who(), error.what()));
  }
}

}  // namespace d5::detail
