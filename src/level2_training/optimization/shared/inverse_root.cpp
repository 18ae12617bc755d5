// SPDX-License-Identifier: Apache-2.0
#include "level2_training/optimization/shared/inverse_root.hpp"

// GCC 12 reports the undefined operands of its own AVX-512 intrinsics as uninitialized.
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <Eigen/Eigenvalues>

#include <cmath>

#include "d5/core/errors/error.hpp"

namespace d5::detail {

template <class T>
void inverse_root(const T* matrix, T* root, std::int64_t side, double power, double epsilon) {
  using Square = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::MatrixXd given =
      Eigen::Map<const Square>(matrix, side, side).template cast<double>();
  if (!given.allFinite()) {
    throw NumericError(
        "a matrix whose inverse root is wanted holds NaN or infinity; a smaller "
        "learning_rate may serve");
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(given);
  const Eigen::VectorXd powers = solver.eigenvalues().unaryExpr([&](double value) {
    const double shifted = std::max(value, 0.0) + epsilon;
    return shifted == 0 ? 0.0 : std::pow(shifted, -1 / power);
  });
  const Eigen::MatrixXd& vectors = solver.eigenvectors();
  Eigen::Map<Square>(root, side, side) =
      (vectors * powers.asDiagonal() * vectors.transpose()).template cast<T>();
}

template void inverse_root(const float*, float*, std::int64_t, double, double);
template void inverse_root(const double*, double*, std::int64_t, double, double);

}  // namespace d5::detail
