// SPDX-License-Identifier: Apache-2.0
#include "d5/level0_ops/infer_context.hpp"

#include <fmt/format.h>

namespace d5 {

const ValueDesc& InferContext::value(std::size_t i) const {
  if (!has_input(i)) throw ShapeError(fmt::format("{}: input {} is missing", who(), i));
  return inputs_[i];
}

const TensorDesc& InferContext::input(std::size_t i) const {
  const ValueDesc& desc = value(i);
  if (!desc.is_tensor()) {
    throw TypeError(
        fmt::format("{}: input {} is {}, expected a tensor", who(), i, to_string(desc)));
  }
  return desc.tensor;
}

const Tensor* InferContext::constant(std::size_t i) const {
  const Value* value = constant_value(i);
  return value ? &value->tensor() : nullptr;
}

std::optional<std::vector<std::int64_t>> InferContext::constant_integers(std::size_t i) const {
  const Tensor* tensor = constant(i);
  if (!tensor) return std::nullopt;
  std::vector<std::int64_t> result;
  dispatch(Types<std::int32_t, std::int64_t>{}, tensor->dtype(), who(), [&]<class T>() {
    const auto values = tensor->span<T>();
    result.assign(values.begin(), values.end());
  });
  return result;
}

}  // namespace d5
