// SPDX-License-Identifier: Apache-2.0
#include "level1_network/nodes/shorter_numbers.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "core/tensor/float64.hpp"
#include "level0_ops/operator/tensor_conversion.hpp"

namespace d5::detail {
namespace {

constexpr double kMostLost = 1.0 / 16;

bool is_end(double number) {
  return std::fabs(number) == double(std::numeric_limits<float>::max());
}

/// The largest number.
float end_of(DType dtype) { return dtype == DType::float16 ? 65504.0F : 0x1.fep127F; }

}  // namespace

Tensor shortened(const Tensor& value, DType dtype) {
  Tensor result = converted(value, dtype);
  if (value.dtype() != DType::float32) return result;
  const auto numbers = value.span<float>();
  dispatch(Types<Float16, BFloat16>{}, dtype, "a shorter type", [&]<class T>() {
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (!is_end(numbers[i])) continue;
      result.data<T>()[i] = T(std::copysign(end_of(dtype), numbers[i]));
    }
  });
  return result;
}

std::string lost_in(const Tensor& value, DType dtype, Ends ends) {
  const Tensor before = to_float64(value), after = to_float64(converted(value, dtype));
  double largest = 0, becomes = 0;
  for (std::int64_t i = 0; i < value.elements(); ++i) {
    const double number = before.data<double>()[i], shorter = after.data<double>()[i];
    if (!std::isfinite(number) || (ends == Ends::become_ends && is_end(number))) continue;
    if (!std::isfinite(shorter)) {
      return fmt::format("holds {:.3g}, which {} cannot", number, name_of(dtype));
    }
    if (std::fabs(number) <= std::fabs(largest)) continue;
    largest = number;
    becomes = shorter;
  }
  if (std::fabs(largest - becomes) <= kMostLost * std::fabs(largest)) return "";
  return fmt::format("holds {:.3g}{}, which is {:.3g} in {}", largest,
                     value.elements() > 1 ? " at most" : "", becomes, name_of(dtype));
}

}  // namespace d5::detail
