// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace d5::detail {

/// Tests whether numbers are independent draws from [0, 1).
///
/// A row holds the draws of one run, a column those of one element in all runs; rows have equal
/// length. Draws from any distribution are tested by their cumulative probabilities, which are
/// uniform (Rosenblatt, "Remarks on a Multivariate Transformation", 1952).
///
///     Uniformity draws;
///     for (...) draws.add(row);
///     if (const auto complaint = draws.complaint(); !complaint.empty()) ...
class Uniformity {
 public:
  /// Throws: ShapeError for a row of another length; ValueError for a number outside [0, 1].
  void add(std::span<const double> row);

  [[nodiscard]] std::size_t count() const { return draws_.size(); }
  /// Kolmogorov's distance: the largest difference between the draws' distribution function and the
  /// uniform one.
  [[nodiscard]] double distance() const;
  /// The first failed test; empty if all pass: mean, variance, distribution (Kolmogorov-Smirnov),
  /// the mean of a column, or the correlation of neighbours in a row or in a column. One in 100,000
  /// correct sets of draws fails.
  [[nodiscard]] std::string complaint() const;

 private:
  [[nodiscard]] double worst_column() const;
  [[nodiscard]] double correlation(std::size_t lag) const;

  std::size_t columns_ = 0;
  std::vector<double> draws_;  ///< row by row
};

}  // namespace d5::detail
