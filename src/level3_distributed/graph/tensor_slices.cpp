// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/graph/tensor_slices.hpp"

#include <cstring>

namespace d5::detail {
namespace {

/// Calls `copy(rows of the part, row of the whole, bytes)` for each contiguous range.
template <class Copy>
void for_rows(const Shape& whole, std::size_t axis, std::size_t element, int part, int parts,
              const Copy& copy) {
  std::size_t outer = 1, inner = element;
  for (std::size_t d = 0; d < axis; ++d) outer *= std::size_t(whole[d]);
  for (std::size_t d = axis; d < whole.rank(); ++d) inner *= std::size_t(whole[d]);
  const std::size_t bytes = inner / std::size_t(parts);
  for (std::size_t i = 0; i < outer; ++i) {
    copy(i * bytes, i * inner + std::size_t(part) * bytes, bytes);
  }
}

}  // namespace

Tensor part_of(const Tensor& whole, std::size_t axis, int part, int parts) {
  Shape shape = whole.shape();
  shape[axis] /= parts;
  Tensor result = Tensor::empty(whole.dtype(), shape);
  for_rows(whole.shape(), axis, size_of(whole.dtype()), part, parts,
           [&](std::size_t mine, std::size_t its, std::size_t bytes) {
             std::memcpy(static_cast<char*>(result.raw()) + mine,
                         static_cast<const char*>(whole.raw()) + its, bytes);
           });
  return result;
}

void join_parts(const Tensor& parts, std::size_t axis, int count, Tensor& whole) {
  for (int part = 0; part < count; ++part) {
    const char* from = static_cast<const char*>(parts.raw()) +
                       std::size_t(part) * (parts.bytes() / std::size_t(count));
    for_rows(whole.shape(), axis, size_of(whole.dtype()), part, count,
             [&](std::size_t mine, std::size_t its, std::size_t bytes) {
               std::memcpy(static_cast<char*>(whole.raw()) + its, from + mine, bytes);
             });
  }
}

}  // namespace d5::detail
