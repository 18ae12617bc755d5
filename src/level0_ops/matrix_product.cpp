// SPDX-License-Identifier: Apache-2.0
#include "matrix_product.hpp"

// GCC 12 takes the undefined operands of its own AVX-512 intrinsics for mistakes.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <Eigen/Core>

#include <string>

#include "d5/core/environment.hpp"
#include "d5/core/threads.hpp"

namespace d5 {
namespace {

template <class T, int Order>
using View =
    Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Order>, 0, Eigen::OuterStride<>>;
template <class T, int Order>
using ConstView = Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Order>, 0,
                             Eigen::OuterStride<>>;

template <class T, int OrderA, int OrderB>
void add_product(const MatrixView<const T>& a, const MatrixView<const T>& b, const MatrixView<T>& c,
                 T alpha) {
  const ConstView<T, OrderA> left(a.data, a.rows, a.columns, Eigen::OuterStride<>(a.stride));
  const ConstView<T, OrderB> right(b.data, b.rows, b.columns, Eigen::OuterStride<>(b.stride));
  View<T, Eigen::RowMajor> sum(c.data, c.rows, c.columns, Eigen::OuterStride<>(c.stride));
  sum.noalias() += alpha * left * right;
}

[[maybe_unused]] const bool noted = [] {
  note_library("Eigen", std::to_string(EIGEN_WORLD_VERSION) + "." +
                            std::to_string(EIGEN_MAJOR_VERSION) + "." +
                            std::to_string(EIGEN_MINOR_VERSION));
  return true;
}();

void follow_thread_setting() {
  [[maybe_unused]] static const bool once = [] {
    on_threads_changed([](int count) { Eigen::setNbThreads(count); });
    return true;
  }();
}

}  // namespace

template <class T>
void matrix_product(const MatrixView<const T>& a, const MatrixView<const T>& b,
                    const MatrixView<T>& c, T alpha, T beta) {
  follow_thread_setting();
  if (beta != T(1)) {
    View<T, Eigen::RowMajor> result(c.data, c.rows, c.columns, Eigen::OuterStride<>(c.stride));
    if (beta == T(0)) {
      result.setZero();
    } else {
      result *= beta;
    }
  }
  if (c.rows == 0 || c.columns == 0 || a.columns == 0) return;
  // A transposed row-major matrix is a column-major one.
  constexpr int kRow = Eigen::RowMajor, kColumn = Eigen::ColMajor;
  if (!a.transposed && !b.transposed) return add_product<T, kRow, kRow>(a, b, c, alpha);
  if (!a.transposed) return add_product<T, kRow, kColumn>(a, b, c, alpha);
  if (!b.transposed) return add_product<T, kColumn, kRow>(a, b, c, alpha);
  add_product<T, kColumn, kColumn>(a, b, c, alpha);
}

template void matrix_product(const MatrixView<const float>&, const MatrixView<const float>&,
                             const MatrixView<float>&, float, float);
template void matrix_product(const MatrixView<const double>&, const MatrixView<const double>&,
                             const MatrixView<double>&, double, double);

}  // namespace d5
