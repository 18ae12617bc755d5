// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace d5::detail {

/// A view of a row-major matrix, with rows `stride` elements apart. If `transposed`, `rows` and
/// `columns` are those of the transposed matrix.
template <class T>
struct MatrixView {
  T* data;
  std::int64_t rows, columns, stride;
  bool transposed = false;

  [[nodiscard]] T& at(std::int64_t i, std::int64_t j) const {
    return transposed ? data[j * stride + i] : data[i * stride + j];
  }
};

/// c = alpha a b + beta c, on `threads()` threads; on one inside `parallel_for`. With beta 0, c is
/// not read. T is float or double; instantiated once, because Eigen's products compile slowly.
template <class T>
void matrix_product(const MatrixView<const T>& a, const MatrixView<const T>& b,
                    const MatrixView<T>& c, T alpha = T(1), T beta = T(0));

}  // namespace d5::detail
