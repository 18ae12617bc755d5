// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace d5::detail {

/// Tests whether numbers are independent draws from [0, 1).
///
/// They come in rows of one length: a row is what one run drew, a column what one place drew in all
/// runs. Whatever is drawn is tested by the place of each value in its distribution, which is
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
  /// Kolmogorov's: the largest between the draws' distribution function and the right one.
  [[nodiscard]] double distance() const;
  /// What is wrong with them, empty if nothing is: their mean, their variance, their distribution
  /// (Kolmogorov and Smirnov), the mean of one column, or what neighbours in a row and in a column
  /// have to do with each other. Of right draws one in 100,000 has a complaint.
  [[nodiscard]] std::string complaint() const;

 private:
  [[nodiscard]] double worst_column() const;
  [[nodiscard]] double correlation(std::size_t lag) const;

  std::size_t columns_ = 0;
  std::vector<double> draws_;  ///< row by row
};

}  // namespace d5::detail
