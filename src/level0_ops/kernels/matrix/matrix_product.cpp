// SPDX-License-Identifier: Apache-2.0
#include "level0_ops/kernels/matrix/matrix_product.hpp"

// GCC 12 warns about the undefined operands of its own AVX-512 intrinsics.
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <Eigen/Core>

#include <algorithm>
#include <string>
#include <vector>

#include "core/thread_pool/thread_pool.hpp"
#include "d5/core/machine/threads.hpp"
#include "d5/core/results/environment.hpp"

namespace d5::detail {
namespace {

template <class T, int Order>
using View =
    Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Order>, 0, Eigen::OuterStride<>>;
template <class T, int Order>
using ConstView = Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Order>, 0,
                             Eigen::OuterStride<>>;

/// Eigen's packed blocks of a product, in memory of each thread: Eigen would allocate them in every
/// call.
template <class T>
class KeptBlocks
    : public Eigen::internal::gemm_blocking_space<Eigen::RowMajor, T, T, Eigen::Dynamic,
                                                  Eigen::Dynamic, Eigen::Dynamic> {
 public:
  KeptBlocks(std::int64_t rows, std::int64_t columns, std::int64_t depth)
      : KeptBlocks::gemm_blocking_space(rows, columns, depth, /*num_threads=*/1,
                                        /*l3_blocking=*/true) {
    constexpr std::size_t kAlignment = 64 / sizeof(T);
    const std::size_t a = std::size_t(this->mc() * this->kc());
    const std::size_t b_begin = (a + kAlignment - 1) / kAlignment * kAlignment;
    const std::size_t all = b_begin + std::size_t(this->kc() * this->nc());
    thread_local std::vector<T, Eigen::aligned_allocator<T>> memory;
    if (memory.size() < all) memory.resize(all);
    this->m_blockA = memory.data();
    this->m_blockB = memory.data() + b_begin;
  }
  /// The base class must not free them.
  ~KeptBlocks() { this->m_blockA = this->m_blockB = nullptr; }
};

template <class T, int OrderA, int OrderB>
void add_block_product(const MatrixView<const T>& a, const MatrixView<const T>& b,
                       const MatrixView<T>& c, T alpha) {
  KeptBlocks<T> blocks(c.rows, c.columns, a.columns);
  Eigen::internal::general_matrix_matrix_product<Eigen::Index, T, OrderA, false, T, OrderB, false,
                                                 Eigen::RowMajor, 1>::run(c.rows, c.columns,
                                                                          a.columns, a.data,
                                                                          a.stride, b.data,
                                                                          b.stride, c.data, 1,
                                                                          c.stride, alpha, blocks);
}

/// Rows [begin, end) of the view.
template <class T>
MatrixView<T> some_rows(MatrixView<T> m, std::int64_t begin, std::int64_t end) {
  m.data += begin * (m.transposed ? 1 : m.stride);
  m.rows = end - begin;
  return m;
}
template <class T>
MatrixView<T> some_columns(MatrixView<T> m, std::int64_t begin, std::int64_t end) {
  m.data += begin * (m.transposed ? m.stride : 1);
  m.columns = end - begin;
  return m;
}

template <class T, int OrderA, int OrderB>
void add_product(const MatrixView<const T>& a, const MatrixView<const T>& b, const MatrixView<T>& c,
                 T alpha) {
  // Eigen has special code for vectors and tiny matrices.
  constexpr std::int64_t kLeastBlocked = 20;
  if (c.rows == 1 || c.columns == 1 || c.rows + c.columns + a.columns < kLeastBlocked) {
    const ConstView<T, OrderA> left(a.data, a.rows, a.columns, Eigen::OuterStride<>(a.stride));
    const ConstView<T, OrderB> right(b.data, b.rows, b.columns, Eigen::OuterStride<>(b.stride));
    View<T, Eigen::RowMajor> sum(c.data, c.rows, c.columns, Eigen::OuterStride<>(c.stride));
    // Uses vector types for vectors: Eigen copies rows of matrix products to the heap.
    if (c.rows == 1) {
      sum.row(0).noalias() += (alpha * left.row(0)) * right;
    } else if (c.columns == 1) {
      sum.col(0).noalias() += (alpha * left) * right.col(0);
    } else {
      sum.noalias() += alpha * left * right;
    }
    return;
  }
  if (ThreadPool::inside()) return add_block_product<T, OrderA, OrderB>(a, b, c, alpha);
  // Splits the longer side into pieces that are worth waking a thread. Splits are between the
  // panels of Eigen's kernel (4 or 8 rows, 3 packets of columns), so that results are bitwise
  // equal.
  constexpr std::int64_t kLeastWork = 50000;
  const bool by_rows = c.rows >= c.columns;
  const std::int64_t lines = std::max(c.rows, c.columns), panel = by_rows ? 16 : 48;
  const std::int64_t work = std::min(c.rows, c.columns) * a.columns;
  const std::int64_t least = kLeastWork / work;
  parallel_for((lines + panel - 1) / panel, (least + panel - 1) / panel,
               [&](std::int64_t first, std::int64_t last) {
                 const std::int64_t begin = first * panel, end = std::min(last * panel, lines);
                 if (by_rows) {
                   add_block_product<T, OrderA, OrderB>(some_rows(a, begin, end), b,
                                                        some_rows(c, begin, end), alpha);
                 } else {
                   add_block_product<T, OrderA, OrderB>(a, some_columns(b, begin, end),
                                                        some_columns(c, begin, end), alpha);
                 }
               });
}

[[maybe_unused]] const bool noted = [] {
  note_library("Eigen", std::to_string(EIGEN_WORLD_VERSION) + "." +
                            std::to_string(EIGEN_MAJOR_VERSION) + "." +
                            std::to_string(EIGEN_MINOR_VERSION));
  return true;
}();

}  // namespace

template <class T>
void matrix_product(const MatrixView<const T>& a, const MatrixView<const T>& b,
                    const MatrixView<T>& c, T alpha, T beta) {
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

}  // namespace d5::detail
