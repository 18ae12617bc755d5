// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/validation/float64_inputs.hpp"

#include <algorithm>

#include "core/tensor/float64.hpp"
#include "d5/onnx/schema.hpp"

namespace d5::detail {

std::vector<Value> float64_inputs(const OperatorRegistry& registry, const OperatorCase& op_case) {
  const auto schema = onnx::schema_of(op_case.node);
  const Places differentiable = operator_for(op_case.node, std::vector{&registry})->gradients();
  std::vector<Value> result;
  for (const Value& value : op_case.inputs) {
    const std::size_t i = result.size();
    const auto* input = schema ? onnx::parameter(schema->inputs, i) : nullptr;
    const bool tensor = value.is_tensor();
    const bool fixed =
        input && !differentiable.contains(i) &&
        std::ranges::find(input->element_types, DType::float64) == input->element_types.end();
    const bool real = tensor && !fixed && is_floating_point(value.tensor().dtype());
    result.push_back(real     ? Value(to_float64(value.tensor()))
                     : tensor ? Value(value.tensor().copy())
                              : value);
  }
  return result;
}

}  // namespace d5::detail
