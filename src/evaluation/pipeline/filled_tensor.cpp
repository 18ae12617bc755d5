// SPDX-License-Identifier: Apache-2.0
#include "evaluation/pipeline/filled_tensor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/small_float.hpp"

namespace d5::detail {
namespace {

template <class T>
Tensor filled(const TensorDesc& desc, double value) {
  T element{};
  if constexpr (std::is_integral_v<T>) {
    // 2^63 is the first double that int64 does not hold.
    constexpr double kInt64End = 9223372036854775808.0;
    const bool fits = value >= -kInt64End && value < kInt64End &&
                      double(static_cast<T>(std::int64_t(value))) == value;
    if (!fits) {
      throw ValueError(fmt::format("constant {} is no {}", value, name_of(desc.dtype)));
    }
    element = static_cast<T>(std::int64_t(value));
  } else if constexpr (std::is_same_v<T, double>) {
    element = value;
  } else {
    element = T(float(value));
  }
  Tensor tensor = Tensor::empty(desc);
  std::fill_n(tensor.data<T>(), tensor.elements(), element);
  return tensor;
}

}  // namespace

Tensor filled_tensor(const TensorDesc& desc, double value) {
  switch (desc.dtype) {
    case DType::float16:
      return filled<Float16>(desc, value);
    case DType::bfloat16:
      return filled<BFloat16>(desc, value);
    case DType::float32:
      return filled<float>(desc, value);
    case DType::float64:
      return filled<double>(desc, value);
    case DType::int32:
      return filled<std::int32_t>(desc, value);
    case DType::int64:
      return filled<std::int64_t>(desc, value);
    case DType::uint8:
      return filled<std::uint8_t>(desc, value);
    case DType::boolean:
      return filled<bool>(desc, value);
    default:
      throw TypeError(fmt::format(
          "{} has no constant; expected float16, bfloat16, float32, float64, int32, int64, uint8 "
          "or bool",
          name_of(desc.dtype)));
  }
}

}  // namespace d5::detail
