// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/operator/infer_context.hpp"

#include <fmt/format.h>

#include "d5/core/errors/error.hpp"
#include "d5/onnx/schema.hpp"
#include "level0_ops/operator/integers.hpp"

namespace d5 {

const ValueDesc& InferContext::value(std::size_t i) const {
  if (!has_input(i)) {
    throw ShapeError(fmt::format("{}: {} is missing", who(), onnx::describe_input(node_, i)));
  }
  return inputs_[i];
}

const TensorDesc& InferContext::input(std::size_t i) const {
  const ValueDesc& desc = value(i);
  if (!desc.is_tensor()) {
    throw TypeError(fmt::format("{}: {} is {}, expected a tensor", who(),
                                onnx::describe_input(node_, i), to_string(desc)));
  }
  return desc.tensor;
}

const Tensor* InferContext::constant(std::size_t i) const {
  const Value* value = constant_value(i);
  return value ? &value->tensor() : nullptr;
}

IntegersInput InferContext::integers(
    std::size_t i, const std::optional<std::vector<std::int64_t>>& attribute) const {
  if (!has_input(i)) return attribute ? IntegersInput(*attribute) : IntegersInput();
  if (shape(i).rank() > 1) {
    throw ShapeError(fmt::format("{}: {} is of shape {}, expected a list", who(),
                                 onnx::describe_input(node_, i), to_string(shape(i))));
  }
  if (shape(i).elements() == 0) return detail::Integers();  // known before running
  const Tensor* tensor = constant(i);
  return tensor ? IntegersInput(detail::integers_of(*tensor, who())) : IntegersInput::untold();
}

const std::vector<std::int64_t>& IntegersInput::values() const {
  if (values_) return *values_;
  throw ContractError(given_ ? "an operator reads integers that are known only at run time"
                             : "an operator reads omitted integers");
}

}  // namespace d5
