// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace d5 {

/// W of decentralized training: of the values of rank j, rank i takes W_ij. It is symmetric, its
/// rows sum to 1, no weight is negative, and its graph is connected: mixing again and again brings
/// all ranks to their mean.
///
///     const auto ring = MixingMatrix::metropolis(4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}});
///     ring(0, 1);                // 1/3
///     ring.second_eigenvalue();  // 1/3: what is left of disagreement after each mixing
class MixingMatrix {
 public:
  /// Row after row. Throws: ShapeError; ValueError that says which row, or which ranks nobody of
  /// the others hears.
  MixingMatrix(int ranks, std::vector<double> weights);
  /// Of a graph without direction, W_ij = 1 / (1 + the larger number of neighbours of i and j), and
  /// W_ii what is left of 1. An edge may be told twice. Throws: ValueError for ranks that are none,
  /// and a graph that is not connected.
  /// Source: Xiao, Boyd and Kim, "Distributed average consensus with least-mean-square deviation"
  /// (2007), section 2.
  [[nodiscard]] static MixingMatrix metropolis(int ranks,
                                               const std::vector<std::pair<int, int>>& edges);
  /// (I + W) / 2: no eigenvalue below 0.
  [[nodiscard]] MixingMatrix lazy() const;

  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] double operator()(int i, int j) const { return weights_[index(i, j)]; }
  /// The other ranks of which `rank` takes something, in their order.
  [[nodiscard]] std::vector<int> neighbors(int rank) const;
  /// The largest magnitude besides that of the eigenvalue 1; 0 of a rank alone.
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
