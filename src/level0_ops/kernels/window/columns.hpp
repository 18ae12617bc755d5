// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "d5/level0_ops/operator/window.hpp"

namespace d5::detail {

/// Some output rows of a convolution: row r is output line (r / height, r % height) of a
/// depth x height x width output.
struct OutputRows {
  std::int64_t begin, end;
};

/// Writes what the window sees at each output position as one column ("im2col"): `columns` is
/// (channels * kernel size) x (rows * output width), row-major; padding is zero. `x` holds
/// channels x input. Source: Chellapilla et al., "High Performance Convolutional Neural Networks
/// for Document Processing" (2006).
template <class T>
void gather_columns(const Window& window, std::int64_t channels, OutputRows rows, const T* x,
                    T* columns);

/// The transpose of `gather_columns`: adds every column back to where it came from.
template <class T>
void scatter_columns(const Window& window, std::int64_t channels, OutputRows rows, const T* columns,
                     T* x);

}  // namespace d5::detail
