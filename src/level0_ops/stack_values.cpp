// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/stack_values.hpp"

#include <fmt/format.h>

#include "d5/core/error.hpp"
#include "level0_ops/element_moving.hpp"

namespace d5::detail {

Tensor stack_values(const OpContext& context, const std::vector<Value>& slices, std::int64_t axis) {
  const TensorDesc first = slices.at(0).tensor().desc();
  std::vector<std::int64_t> dims(first.shape.begin(), first.shape.end());
  const std::size_t place = normalize_axis(axis, dims.size() + 1, context.who());
  dims.insert(dims.begin() + std::ptrdiff_t(place), std::int64_t(slices.size()));
  TensorDesc whole = first;
  whole.shape = Shape(dims);
  Tensor result = context.services().allocate(whole);
  const std::int64_t outer = whole.shape.elements(0, place);
  const std::int64_t inner = whole.shape.elements(place + 1, dims.size());
  for (std::size_t i = 0; i < slices.size(); ++i) {
    const Tensor& slice = slices[i].tensor();
    if (slice.desc() != first) {
      throw ShapeError(fmt::format("{}: iteration {} made {}, but the first one {}", context.who(),
                                   i, to_string(slice.desc()), to_string(first)));
    }
    StridedLoop loop(2);
    loop.add(outer, {std::int64_t(slices.size()) * inner, inner});
    loop.add(inner, {1, 1});
    copy_strided(whole.dtype, loop, element(result, std::int64_t(i) * inner), slice.raw());
  }
  return result;
}

}  // namespace d5::detail
