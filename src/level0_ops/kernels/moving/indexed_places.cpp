// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/moving/indexed_places.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

const Shape& IndexedPlaces::shape_along_axis(const InferContext& context, std::size_t axis) {
  const Shape &data = context.shape(0), &indices = context.shape(1);
  bool fits = data.rank() == indices.rank();
  for (std::size_t d = 0; fits && d < data.rank(); ++d) fits = d == axis || indices[d] <= data[d];
  if (!fits) {
    throw ShapeError(
        fmt::format("{}: indices are {}, the data is {}; they must have the same rank, and indices "
                    "be nowhere larger but along axis {}",
                    context.who(), to_string(indices), to_string(data), axis));
  }
  return indices;
}

Shape IndexedPlaces::shape_of_slices(const InferContext& context, std::size_t batch_dims) {
  const Shape &data = context.shape(0), &indices = context.shape(1);
  const std::size_t rank = indices.rank();
  if (batch_dims >= std::min(rank, data.rank())) {
    throw ShapeError(
        fmt::format("{}: indices are {}, the data is {}; both need more than {} dimensions",
                    context.who(), to_string(indices), to_string(data), batch_dims));
  }
  for (std::size_t d = 0; d < batch_dims; ++d) {
    if (indices[d] == data[d]) continue;
    throw ShapeError(
        fmt::format("{}: indices are {}, the data is {}; the first {} dimensions must agree",
                    context.who(), to_string(indices), to_string(data), batch_dims));
  }
  const std::int64_t width = indices[rank - 1], most = std::int64_t(data.rank() - batch_dims);
  if (width < 1 || width > most) {
    throw ShapeError(fmt::format("{}: indices are {}: {} coordinates for {}, expected 1 to {}",
                                 context.who(), to_string(indices), width, to_string(data), most));
  }
  Shape result(indices.dims().first(rank - 1));
  for (std::size_t d = batch_dims + std::size_t(width); d < data.rank(); ++d) {
    result.push_back(data[d]);
  }
  return result;
}

IndexedPlaces IndexedPlaces::along_axis(const InferContext& context, std::size_t axis) {
  const Shape &data = context.shape(0), &indices = context.shape(1);
  const auto steps = indices.strides(), strides = data.strides();
  StridedLoop bases(2);
  for (std::size_t d = 0; d < steps.size(); ++d) {
    bases.add(indices[d], {steps[d], d == axis ? 0 : strides[d]});
  }
  return {context.dtype(1), bases, {{data[axis], strides[axis]}}, 1};
}

IndexedPlaces IndexedPlaces::of_slices(const InferContext& context, std::size_t batch_dims) {
  const Shape &data = context.shape(0), &indices = context.shape(1);
  const std::size_t last = indices.rank() - 1, end = batch_dims + std::size_t(indices[last]);
  const std::int64_t rows = indices.elements(batch_dims, last);
  StridedLoop bases(2);
  bases.add(indices.elements(0, batch_dims), {rows, data.elements(batch_dims, data.rank())});
  bases.add(rows, {1, 0});
  const auto strides = data.strides();
  std::vector<Coordinate> coordinates;
  for (std::size_t d = batch_dims; d < end; ++d) coordinates.push_back({data[d], strides[d]});
  return {context.dtype(1), bases, std::move(coordinates), data.elements(end, data.rank())};
}

IndexedPlaces::IndexedPlaces(DType index_type, StridedLoop bases,
                             std::vector<Coordinate> coordinates, std::int64_t inner)
    : bases_(bases),
      coordinates_(std::move(coordinates)),
      entries_(bases.elements()),
      inner_(inner) {
  dispatch(Types<std::int32_t, std::int64_t>{}, index_type, "an index",
           [this]<class I>() { find_ = find_as<I>; });
}

template <class I>
void IndexedPlaces::find_as(const IndexedPlaces& self, const Tensor& indices,
                            const onnx::Node& node, std::int64_t* places) {
  const I* index = indices.data<I>();
  const auto width = std::int64_t(self.coordinates_.size());
  const std::int64_t step = self.bases_.step(0), step_base = self.bases_.step(1);
  self.bases_.run_in_order([&](const StridedLoop::Offsets& at, std::int64_t count) {
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t entry = at[0] + k * step;
      std::int64_t place = at[1] + k * step_base;
      for (std::int64_t c = 0; c < width; ++c) {
        const auto [size, stride] = self.coordinates_[std::size_t(c)];
        const std::int64_t i = index[entry * width + c];
        if (i < -size || i >= size) {
          throw ValueError(fmt::format("{}: index {} at position {} is outside [{}, {}]",
                                       onnx::describe(node), i, entry * width + c, -size,
                                       size - 1));
        }
        place += (i < 0 ? i + size : i) * stride;
      }
      places[entry] = place;
    }
  });
}

}  // namespace d5::detail
