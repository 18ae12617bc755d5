// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/shape.hpp"
#include "d5/level0_ops/operator/infer_context.hpp"

namespace d5 {

/// Broadcast of the Scale or B of LayerNormalization and RMSNormalization to X, whose rows span the
/// dimensions from `axis` on. `shape` has the rank of X, and broadcasts to it.
///
/// Source: ONNX, "Unidirectional Broadcasting". As in ONNX Runtime, a tensor that does not
/// broadcast, but has as many elements as a row, is applied to each row.
struct RowScale {
  Shape shape;
  bool is_row = true;  ///< one row, shared by all rows of X
};

namespace detail {

[[nodiscard]] inline bool scale_broadcasts(const Shape& from, const Shape& to) {
  for (std::size_t i = 0; i < from.rank(); ++i) {
    if (from[i] != 1 && from[i] != to[i]) return false;
  }
  return true;
}

/// `shape` with leading ones.
[[nodiscard]] inline Shape scale_of_rank(std::size_t rank, const Shape& shape) {
  std::vector<std::int64_t> dims(rank - shape.rank(), 1);
  dims.insert(dims.end(), shape.begin(), shape.end());
  return Shape(std::move(dims));
}

}  // namespace detail

/// The scale of input `i`. Throws: ShapeError.
[[nodiscard]] inline RowScale row_scale(const InferContext& context, std::size_t i,
                                        std::size_t axis) {
  const Shape &x = context.shape(0), &scale = context.shape(i);
  Shape row = x;
  for (std::size_t k = 0; k < axis; ++k) row[k] = 1;
  if (scale.rank() <= x.rank()) {
    Shape shape = detail::scale_of_rank(x.rank(), scale);
    if (detail::scale_broadcasts(shape, x)) return {.shape = shape, .is_row = shape == row};
  }
  if (scale.elements() == row.elements()) return {.shape = row};
  throw ShapeError(context.who() + ": input " + std::to_string(i) + " is " + to_string(scale) +
                   ", expected " + std::to_string(row.elements()) +
                   " elements, or a shape that broadcasts to that of the input, " + to_string(x));
}

}  // namespace d5
