// SPDX-License-Identifier: Apache-2.0
// Alignment of two operands' axes: until opset 6 by an attribute, then by the last axes.
#include <fmt/format.h>

#include <cstdint>
#include <numeric>

#include "d5/core/errors/error.hpp"
#include "onnx/opset/opset_step.hpp"

namespace d5::onnx::detail {
namespace {

/// Appends `count` axes of size 1 to input 1 of rank `rank`.
void add_axes(OpsetStep& step, Node& node, std::size_t rank, std::size_t count) {
  std::vector<std::int64_t> axes(count);
  std::iota(axes.begin(), axes.end(), std::int64_t(rank));
  std::string wide = step.unused_name(node.outputs.front() + ".operand");
  step.add("Unsqueeze", {node.inputs[1]}, {wide}, {{"axes", std::move(axes)}});
  node.inputs[1] = std::move(wide);
}

/// `axis` is the axis of the first operand that matches the second operand's first axis.
void convert_operands(OpsetStep& step, Node node) {
  const auto broadcast = taken<std::int64_t>(node, "broadcast");
  const auto axis = taken<std::int64_t>(node, "axis");
  if (broadcast.value_or(0) != 0 && axis) {
    const std::size_t of_first = step.rank(node, node.inputs[0]);
    const std::size_t of_second = step.rank(node, node.inputs[1]);
    const std::int64_t place = *axis < 0 ? *axis + std::int64_t(of_first) : *axis;
    const std::int64_t behind = std::int64_t(of_first) - place - std::int64_t(of_second);
    if (place < 0 || behind < 0) {
      refuse_conversion(node, fmt::format("axis {} puts an operand of rank {} outside of one of "
                                          "rank {}",
                                          *axis, of_second, of_first));
    }
    if (behind > 0) add_axes(step, node, of_second, std::size_t(behind));
  }
  step.add(std::move(node));
}

/// A one-dimensional slope belongs to the channels, axis 1.
void convert_prelu(OpsetStep& step, Node node) {
  const std::size_t of_x = step.rank(node, node.inputs[0]);
  const std::size_t of_slope = step.rank(node, node.inputs[1]);
  const auto* slope = step.type(node.inputs[1]);
  const bool is_one = of_slope == 1 && slope->dims.front() == Dim(std::int64_t{1});
  if (of_slope == 1 && !is_one && of_x > 2) add_axes(step, node, 1, of_x - 2);
  step.add(std::move(node));
}

void convert_gemm(OpsetStep& step, Node node) {
  (void)taken<std::int64_t>(node, "broadcast");
  step.add(std::move(node));
}

}  // namespace

OpsetChanges broadcasting_changes() {
  return {{7,
           {"Add", "And", "Div", "Equal", "Greater", "Less", "Mul", "Or", "Pow", "Sub", "Xor"},
           convert_operands},
          {7, {"PRelu"}, convert_prelu},
          {7, {"Gemm"}, convert_gemm}};
}

}  // namespace d5::onnx::detail
