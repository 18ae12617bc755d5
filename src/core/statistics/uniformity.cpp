// SPDX-License-Identifier: Apache-2.0
#include "core/statistics/uniformity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "d5/core/errors/error.hpp"

namespace d5::detail {
namespace {

/// Standard errors; exceeded by one in 1.7 million correct tests.
constexpr double kMostErrors = 5;
/// One in 500 million, because there are thousands of columns.
constexpr double kMostErrorsOfColumn = 6;
/// In units of 1 / sqrt(n): 2 exp(-2 x^2), one in a million, for every n (Massart, "The Tight
/// Constant in the Dvoretzky-Kiefer-Wolfowitz Inequality", 1990).
constexpr double kMostDistance = 2.7;

}  // namespace

void Uniformity::add(std::span<const double> row) {
  if (draws_.empty()) columns_ = row.size();
  if (row.size() != columns_) {
    throw ShapeError(fmt::format("{} numbers were drawn after rows of {}, expected as many",
                                 row.size(), columns_));
  }
  for (const double draw : row) {
    if (!(draw >= 0 && draw <= 1)) {
      throw ValueError(fmt::format("a draw is {}, expected 0 to 1", draw));
    }
    draws_.push_back(draw);
  }
}

double Uniformity::distance() const {
  std::vector<double> ordered = draws_;
  std::ranges::sort(ordered);
  const double n = double(ordered.size());
  double largest = 0;
  for (std::size_t i = 0; i < ordered.size(); ++i) {
    largest = std::max({largest, double(i + 1) / n - ordered[i], ordered[i] - double(i) / n});
  }
  return largest;
}

/// In standard errors; a draw has variance 1/12.
double Uniformity::worst_column() const {
  const std::size_t rows = draws_.size() / columns_;
  double largest = 0;
  for (std::size_t column = 0; column < columns_; ++column) {
    double sum = 0;
    for (std::size_t i = column; i < draws_.size(); i += columns_) sum += draws_[i] - 0.5;
    largest = std::max(largest, std::fabs(sum) * std::sqrt(12 / double(rows)));
  }
  return largest;
}

/// In standard errors; the product of two draws' deviations from the mean has variance 1/144.
double Uniformity::correlation(std::size_t lag) const {
  if (draws_.size() <= lag) return 0;
  double sum = 0;
  for (std::size_t i = lag; i < draws_.size(); ++i)
    sum += (draws_[i] - 0.5) * (draws_[i - lag] - 0.5);
  return sum * 12 / std::sqrt(double(draws_.size() - lag));
}

std::string Uniformity::complaint() const {
  if (draws_.empty()) return {};
  const double n = double(draws_.size());
  double sum = 0, squares = 0;
  for (const double draw : draws_) {
    sum += draw - 0.5;
    squares += (draw - 0.5) * (draw - 0.5);
  }
  struct Test {
    const char* what;
    double errors, most;
  };
  // The variance of (u - 1/2)^2 is 1/180.
  for (const auto& [what, errors, most] :
       {Test{"their mean", sum * std::sqrt(12 / n), kMostErrors},
        Test{"their variance", (squares - n / 12) * std::sqrt(180 / n), kMostErrors},
        Test{"the mean of one element", worst_column(), kMostErrorsOfColumn},
        Test{"the correlation of neighbours in a run", correlation(1), kMostErrors},
        Test{"the correlation of an element with itself a run later", correlation(columns_),
             kMostErrors}}) {
    if (std::fabs(errors) <= most) continue;
    return fmt::format("{} is {:.1f} standard errors off, expected at most {}, after {} draws",
                       what, errors, most, draws_.size());
  }
  const double distance = this->distance(), most = kMostDistance / std::sqrt(n);
  if (distance <= most) return {};
  return fmt::format(
      "their distribution function is {:.3g} off, expected at most {:.3g}, after {} draws",
      distance, most, draws_.size());
}

}  // namespace d5::detail
