// SPDX-License-Identifier: Apache-2.0
#include "integer_divisions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <type_traits>

#include "d5/core/error.hpp"
#include "d5/core/tensor.hpp"

namespace d5::onnxruntime {
namespace {

template <class T>
bool holds(const Tensor* tensor, T number) {
  return tensor && std::ranges::find(tensor->span<T>(), number) != tensor->span<T>().end();
}

/// `dividend` is null where it is not known: then -1 is let through.
bool is_defined(const Tensor* dividend, const Tensor& divisor) {
  bool defined = true;
  dispatch(IntegerTypes{}, divisor.dtype(), "divisor", [&]<class T>() {
    if (holds(&divisor, T(0))) defined = false;
    if constexpr (std::is_signed_v<T>) {
      const bool overflows =
          holds(&divisor, T(-1)) && holds(dividend, std::numeric_limits<T>::min());
      if (overflows) defined = false;
    }
  });
  return defined;
}

}  // namespace

IntegerDivisions::IntegerDivisions(const onnx::Model& model) {
  const onnx::Graph& graph = model.graph;
  const auto operand = [&](const std::string& name) -> Operand {
    const auto input = std::ranges::find(graph.inputs, name, &onnx::ValueInfo::name);
    if (input != graph.inputs.end()) return std::size_t(input - graph.inputs.begin());
    const auto constant = graph.initializers.find(name);
    if (constant != graph.initializers.end()) return constant->second;
    return {};
  };
  for (const onnx::Node& node : graph.nodes) {
    if (!node.domain.empty() || (node.op_type != "Div" && node.op_type != "Mod")) continue;
    const Operand divisor = operand(node.inputs.at(1));
    if (std::holds_alternative<std::monostate>(divisor)) continue;
    const auto* constant = std::get_if<Tensor>(&divisor);
    if (constant && !is_integer(constant->dtype())) continue;
    divisions_.push_back({onnx::describe(node), operand(node.inputs[0]), divisor});
  }
}

void IntegerDivisions::expect_defined(std::span<const Value* const> inputs) const {
  const auto tensor_of = [&](const Operand& operand) -> const Tensor* {
    if (const auto* place = std::get_if<std::size_t>(&operand)) return &inputs[*place]->tensor();
    return std::get_if<Tensor>(&operand);
  };
  for (const auto& [who, dividend, divisor] : divisions_) {
    const Tensor& by = *tensor_of(divisor);
    if (!is_integer(by.dtype()) || is_defined(tensor_of(dividend), by)) continue;
    throw Unsupported(
        fmt::format("{}: ONNX Runtime does not divide integers by 0, nor the smallest by -1", who));
  }
}

}  // namespace d5::onnxruntime
