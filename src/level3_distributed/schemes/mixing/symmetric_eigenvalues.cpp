// SPDX-License-Identifier: Apache-2.0
#include "level3_distributed/schemes/mixing/symmetric_eigenvalues.hpp"

#include <Eigen/Eigenvalues>

namespace d5::detail {

std::vector<double> symmetric_eigenvalues(const std::vector<double>& matrix, int side) {
  const Eigen::Map<const Eigen::MatrixXd> map(matrix.data(), side, side);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(map, Eigen::EigenvaluesOnly);
  const auto& values = solver.eigenvalues();
  return {values.data(), values.data() + values.size()};
}

}  // namespace d5::detail
