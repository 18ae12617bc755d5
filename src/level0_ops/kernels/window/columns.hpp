// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "d5/level0_ops/operator/window.hpp"

namespace d5::detail {

/// A range of a convolution's output rows: row r is output line (r / height, r % height) of a depth
/// x height x width output.
struct OutputRows {
  std::int64_t begin, end;
};

/// Writes the window's elements at each output position as a column (im2col): `columns` is
/// (channels * kernel size) x (rows * output width), row-major; padding is zero. `x` is channels x
/// input. Source: Chellapilla et al., "High Performance Convolutional Neural Networks for Document
/// Processing" (2006).
template <class T>
void gather_columns(const Window& window, std::int64_t channels, OutputRows rows, const T* x,
                    T* columns);

/// The transpose of `gather_columns`: adds every column to its source elements (col2im).
template <class T>
void scatter_columns(const Window& window, std::int64_t channels, OutputRows rows, const T* columns,
                     T* x);

}  // namespace d5::detail
