// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace d5 {

/// The mixing matrix W of decentralized training: rank i weighs the values of rank j by W_ij. W is
/// symmetric and doubly stochastic, and its graph is connected, so repeated mixing converges to the
/// mean of all ranks.
///
///     const auto ring = MixingMatrix::metropolis(4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}});
///     ring(0, 1);                // 1/3
///     ring.second_eigenvalue();  // 1/3: the disagreement shrinks by it in each mixing
class MixingMatrix {
 public:
  /// `weights` in row-major order. Throws: ShapeError; ValueError that names the invalid row, or
  /// the ranks that are not connected to the others.
  MixingMatrix(int ranks, std::vector<double> weights);
  /// Metropolis weights of an undirected graph: W_ij = 1 / (1 + max(degree(i), degree(j))) for each
  /// edge, and W_ii so that row i sums to 1. Duplicate edges are allowed.
  /// Throws: ValueError for ranks out of range and for a graph that is not connected.
  /// Source: Xiao, Boyd and Kim, "Distributed average consensus with least-mean-square deviation"
  /// (2007), section 2.
  [[nodiscard]] static MixingMatrix metropolis(int ranks,
                                               const std::vector<std::pair<int, int>>& edges);
  /// (I + W) / 2, which has no negative eigenvalue.
  [[nodiscard]] MixingMatrix lazy() const;

  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] double operator()(int i, int j) const { return weights_[index(i, j)]; }
  /// The other ranks with a non-zero weight in row `rank`, ascending.
  [[nodiscard]] std::vector<int> neighbors(int rank) const;
  /// The second largest magnitude of an eigenvalue; 0 for a single rank.
  [[nodiscard]] double second_eigenvalue() const;
  [[nodiscard]] double least_eigenvalue() const;

 private:
  [[nodiscard]] std::size_t index(int i, int j) const {
    return std::size_t(i) * std::size_t(ranks_) + std::size_t(j);
  }
  void check_rows() const;
  void check_connected() const;

  int ranks_;
  std::vector<double> weights_;
};

}  // namespace d5
