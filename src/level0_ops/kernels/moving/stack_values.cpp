// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/moving/stack_values.hpp"

#include <fmt/format.h>

#include "d5/core/error.hpp"
#include "level0_ops/kernels/moving/element_moving.hpp"

namespace d5::detail {

Tensor stack_values(const OpContext& context, const std::vector<Value>& slices, std::int64_t axis) {
  const TensorDesc first = slices.at(0).tensor().desc();
  std::vector<std::int64_t> dims(first.shape.begin(), first.shape.end());
  const std::size_t place = normalize_axis(axis, dims.size() + 1, context.who());
  dims.insert(dims.begin() + std::ptrdiff_t(place), std::int64_t(slices.size()));
  TensorDesc whole = first;
  whole.shape = Shape(dims);
  Tensor result = context.services().allocate(whole);
  for (std::size_t i = 0; i < slices.size(); ++i) {
    const Tensor& slice = slices[i].tensor();
    if (slice.desc() != first) {
      throw ShapeError(fmt::format("{}: iteration {} made {}, but the first one {}", context.who(),
                                   i, to_string(slice.desc()), to_string(first)));
    }
    TensorPart(whole, place, std::int64_t(i), 1).paste(slice, result);
  }
  return result;
}

Tensor slice_of(RunServices& services, const Tensor& x, std::size_t axis, std::int64_t i) {
  Shape shape;
  for (std::size_t d = 0; d < x.shape().rank(); ++d) {
    if (d != axis) shape.push_back(x.shape()[d]);
  }
  Tensor result = services.allocate(TensorDesc{x.dtype(), shape});
  TensorPart(x.desc(), axis, i, 1).cut(x, result);
  return result;
}

}  // namespace d5::detail
