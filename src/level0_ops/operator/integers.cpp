// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/operator/integers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

Integers integers_of(const Tensor& tensor, std::string_view who) {
  Integers result;
  dispatch(Types<std::int32_t, std::int64_t>{}, tensor.dtype(), who, [&]<class T>() {
    const auto values = tensor.span<T>();
    result.assign(values.begin(), values.end());
  });
  return result;
}

std::vector<std::size_t> distinct_axes(const Integers& axes, std::size_t rank,
                                       std::string_view who) {
  std::vector<std::size_t> result;
  for (const auto axis : axes) {
    const std::size_t place = normalize_axis(axis, rank, who);
    if (std::ranges::find(result, place) != result.end()) {
      throw ValueError(fmt::format("{}: axis {} is given twice", who, axis));
    }
    result.push_back(place);
  }
  return result;
}

}  // namespace d5::detail
