// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace d5 {

/// Minimises cost * x over integers 0 <= x <= most, subject to all rows.
struct IntegerProgram {
  /// least <= sum of factor * x[variable] <= most
  struct Row {
    std::vector<std::pair<std::size_t, double>> terms = {};  ///< variables, each once; factors
    double least = 0, most = 0;
  };
  std::vector<double> costs = {};       ///< one a variable
  std::vector<std::int64_t> most = {};  ///< one a variable
  std::vector<Row> rows = {};

  /// Returns the new variable.
  std::size_t add_variable(double cost, std::int64_t at_most) {
    costs.push_back(cost);
    most.push_back(at_most);
    return costs.size() - 1;
  }
};

/// An optimal x, found by branch and cut; empty if it is infeasible.
[[nodiscard]] std::optional<std::vector<std::int64_t>> minimise(const IntegerProgram& program);

}  // namespace d5
