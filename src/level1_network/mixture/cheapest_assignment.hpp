// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace d5 {

/// Variables with their choices and costs. Each choice has a cost, and so has each pair of choices
/// of two linked variables.
struct AssignmentProblem {
  struct Link {
    std::size_t first, second;  ///< variables, two different ones
    /// Cost of choice i of the first with j of the second: costs[i * choices of the second + j];
    /// infinite for an impossible pair.
    std::vector<double> costs;
  };
  std::vector<std::vector<double>> costs = {};  ///< costs of each variable's choices
  std::vector<Link> links = {};

  [[nodiscard]] double cost_of(const std::vector<std::size_t>& choices) const;
};

/// Maximum number of entries of a table in dynamic programming.
inline constexpr std::size_t kMostTableEntries = std::size_t{1} << 20;

/// The assignment of least total cost; exact.
///
/// Variables are eliminated one after another, those with the fewest neighbours first; on a chain
/// this is the shortest path. If links are so dense that a table would exceed `most_entries`, an
/// integer linear program is solved instead: x(v, i) is 1 if v has choice i, y(l, i, j) if both
/// ends of l have theirs, and the y of a link sum to the x of each end.
/// Throws: ValueError if no assignment has a finite cost, or a variable has no choice.
///
/// Source: Bertelè and Brioschi, "Nonserial Dynamic Programming" (1972); the program is that over
/// the local polytope of Schlesinger (1976).
[[nodiscard]] std::vector<std::size_t> cheapest_assignment(
    const AssignmentProblem& problem, std::size_t most_entries = kMostTableEntries);

}  // namespace d5
