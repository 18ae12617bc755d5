// SPDX-License-Identifier: Apache-2.0
#include "evaluation/pipeline/batch_axis.hpp"

#include <fmt/format.h>

#include <cstring>
#include <numeric>

#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

using Sizes = std::vector<std::int64_t>;

Sizes sizes_of(const Tensor& tensor) {
  const auto dims = tensor.shape().dims();
  return {dims.begin(), dims.end()};
}

/// Number of elements below dimension `axis`.
std::int64_t stride_of(const Sizes& sizes, std::int64_t axis) {
  return std::accumulate(sizes.begin() + axis + 1, sizes.end(), std::int64_t{1},
                         std::multiplies<>());
}

}  // namespace

Tensor with_axis(const Tensor& tensor, std::int64_t axis) {
  Sizes sizes = sizes_of(tensor);
  if (axis > std::int64_t(sizes.size())) {
    throw ShapeError(
        fmt::format("{} has no room for a batch as dimension {}", to_string(tensor.desc()), axis));
  }
  sizes.insert(sizes.begin() + axis, 1);
  return tensor.reshaped(Shape(std::move(sizes)));
}

Tensor joined(std::span<const Tensor> parts, std::int64_t axis, const std::string& input) {
  const Tensor& one = parts.front();
  if (parts.size() == 1) return one;
  Sizes sizes = sizes_of(one);
  for (const Tensor& part : parts) {
    if (part.desc() == one.desc()) continue;
    throw ShapeError(
        fmt::format("pipeline: input '{}' is {} of one sample and {} of another; "
                    "samples of a batch must be alike",
                    printable(input), to_string(one.desc()), to_string(part.desc())));
  }
  if (one.dtype() == DType::string) {
    throw TypeError(fmt::format("pipeline: input '{}' is text, which has no batch of {}; use 1",
                                printable(input), parts.size()));
  }
  sizes[std::size_t(axis)] = std::int64_t(parts.size());
  Tensor all = Tensor::empty(one.dtype(), Shape(sizes));
  const std::int64_t inner = stride_of(sizes, axis);
  const std::int64_t outer = inner > 0 ? one.elements() / inner : 0;
  const std::size_t bytes = std::size_t(inner) * size_of(one.dtype());
  auto* out = static_cast<std::byte*>(all.raw());
  for (std::int64_t i = 0; i < outer; ++i) {
    for (const Tensor& part : parts) {
      std::memcpy(out, static_cast<const std::byte*>(part.raw()) + std::size_t(i) * bytes, bytes);
      out += bytes;
    }
  }
  return all;
}

Tensor row_of(const Tensor& tensor, std::int64_t axis, std::int64_t row) {
  Sizes sizes = sizes_of(tensor);
  const std::int64_t count = sizes[std::size_t(axis)];
  sizes.erase(sizes.begin() + axis);
  const Shape shape(sizes);
  if (axis == 0) return tensor.slice(row, row + 1).reshaped(shape).copy();
  if (count == 1) return tensor.reshaped(shape).copy();
  if (tensor.dtype() == DType::string) {
    throw TypeError(
        fmt::format("pipeline: text of {} is not split at dimension {}; use batches "
                    "of 1",
                    to_string(tensor.desc()), axis));
  }
  Tensor part = Tensor::empty(tensor.dtype(), shape);
  const std::int64_t inner = stride_of(sizes, axis - 1);
  const std::int64_t outer = inner > 0 ? part.elements() / inner : 0;
  const std::size_t bytes = std::size_t(inner) * size_of(tensor.dtype());
  const auto* from = static_cast<const std::byte*>(tensor.raw());
  auto* out = static_cast<std::byte*>(part.raw());
  for (std::int64_t i = 0; i < outer; ++i, out += bytes) {
    std::memcpy(out, from + std::size_t(i * count + row) * bytes, bytes);
  }
  return part;
}

}  // namespace d5::detail
