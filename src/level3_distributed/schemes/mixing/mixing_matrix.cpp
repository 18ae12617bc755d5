// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/schemes/mixing_matrix.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "level3_distributed/schemes/mixing/reached_ranks.hpp"
#include "level3_distributed/schemes/mixing/symmetric_eigenvalues.hpp"

namespace d5 {

MixingMatrix::MixingMatrix(int ranks, std::vector<double> weights)
    : ranks_(ranks), weights_(std::move(weights)) {
  if (ranks < 1 || weights_.size() != std::size_t(ranks) * std::size_t(ranks)) {
    throw ShapeError(
        fmt::format("mixing matrix of {} ranks: {} weights were given; expected one for each pair "
                    "of ranks, in row-major order",
                    ranks, weights_.size()));
  }
  check_rows();
  check_connected();
}

void MixingMatrix::check_rows() const {
  // Tolerance for one rounding of each weight and of each sum.
  const double tolerance = 1e-15 * ranks_;
  for (int i = 0; i < ranks_; ++i) {
    double sum = 0;
    for (int j = 0; j < ranks_; ++j) {
      const double weight = (*this)(i, j);
      if (!(weight >= 0)) {
        throw ValueError(fmt::format(
            "mixing matrix: row {} takes {} of rank {}; no weight may be negative", i, weight, j));
      }
      if (weight != (*this)(j, i)) {
        throw ValueError(
            fmt::format("mixing matrix: row {} takes {} of rank {}, but row {} takes {} of rank "
                        "{}; make it symmetric",
                        i, weight, j, j, (*this)(j, i), i));
      }
      sum += weight;
    }
    if (!(std::abs(sum - 1) <= tolerance)) {
      throw ValueError(
          fmt::format("mixing matrix: the weights of row {} sum to {}, expected 1; the parameters "
                      "would grow or shrink",
                      i, sum));
    }
  }
}

void MixingMatrix::check_connected() const {
  const auto reached =
      detail::reached_ranks(ranks_, [&](int i, int j) { return (*this)(i, j) > 0; });
  if (reached.size() == std::size_t(ranks_)) return;
  throw ValueError(
      fmt::format("mixing graph of {} ranks: ranks {} are not connected to the others and would "
                  "never agree with them; add an edge",
                  ranks_, fmt::join(reached, ", ")));
}

MixingMatrix MixingMatrix::metropolis(int ranks, const std::vector<std::pair<int, int>>& edges) {
  const auto side = std::size_t(std::max(ranks, 0));
  std::vector<double> weights(side * side, 0);
  const auto at = [&](int i, int j) -> double& {
    return weights[std::size_t(i) * side + std::size_t(j)];
  };
  for (const auto& [i, j] : edges) {
    if (std::min(i, j) < 0 || std::max(i, j) >= ranks) {
      throw ValueError(fmt::format("mixing graph of {} ranks: edge {} {}, expected ranks 0 to {}",
                                   ranks, i, j, ranks - 1));
    }
    if (i != j) at(i, j) = at(j, i) = 1;
  }
  std::vector<double> degrees(side, 0);
  for (int i = 0; i < ranks; ++i) {
    for (int j = 0; j < ranks; ++j) degrees[std::size_t(i)] += at(i, j);
  }
  for (int i = 0; i < ranks; ++i) {
    double others = 0;
    for (int j = 0; j < ranks; ++j) {
      if (at(i, j) == 0) continue;
      at(i, j) = 1 / (1 + std::max(degrees[std::size_t(i)], degrees[std::size_t(j)]));
      others += at(i, j);
    }
    at(i, i) = 1 - others;
  }
  return {ranks, std::move(weights)};
}

MixingMatrix MixingMatrix::lazy() const {
  std::vector<double> weights = weights_;
  for (double& weight : weights) weight /= 2;
  for (int i = 0; i < ranks_; ++i) weights[index(i, i)] += 0.5;
  return {ranks_, std::move(weights)};
}

std::vector<int> MixingMatrix::neighbors(int rank) const {
  std::vector<int> result;
  for (int j = 0; j < ranks_; ++j) {
    if (j != rank && (*this)(rank, j) > 0) result.push_back(j);
  }
  return result;
}

double MixingMatrix::second_eigenvalue() const {
  if (ranks_ == 1) return 0;
  const auto values = detail::symmetric_eigenvalues(weights_, ranks_);
  return std::max(std::abs(values.front()), std::abs(values[values.size() - 2]));
}

double MixingMatrix::least_eigenvalue() const {
  return detail::symmetric_eigenvalues(weights_, ranks_).front();
}

}  // namespace d5
