// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/integers_input.hpp"

namespace d5::detail {

IntegersInput integers_input(const InferContext& context, std::size_t input,
                             const std::optional<Integers>& attribute) {
  if (context.has_input(input)) {
    if (context.shape(input).elements() == 0) return {true, Integers()};
    return {true, context.constant_integers(input)};
  }
  return {attribute.has_value(), attribute};
}

Integers integers_of(const Tensor& tensor, std::string_view who) {
  Integers result;
  dispatch(Types<std::int32_t, std::int64_t>{}, tensor.dtype(), who, [&]<class T>() {
    const auto values = tensor.span<T>();
    result.assign(values.begin(), values.end());
  });
  return result;
}

Shape unknown_shape(const Shape& list) {
  return Shape(std::vector<std::int64_t>(std::size_t(list.elements()), kUnknownDim));
}

}  // namespace d5::detail
