// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace d5 {

/// What there is to choose, and what it costs: each variable has choices of its own, and two that
/// are linked cost something together as well.
struct AssignmentProblem {
  struct Link {
    std::size_t first, second;  ///< variables, two different ones
    /// Of choice i of the first and j of the second: costs[i * choices of the second + j]; infinite
    /// for what does not go together.
    std::vector<double> costs;
  };
  std::vector<std::vector<double>> costs = {};  ///< of each variable's choices
  std::vector<Link> links = {};

  [[nodiscard]] double cost_of(const std::vector<std::size_t>& choices) const;
};

/// The largest table, in entries, that dynamic programming may make.
inline constexpr std::size_t kMostTableEntries = std::size_t{1} << 20;

/// The choice of each variable with which all cost least together; exact.
///
/// Variables are eliminated one after another, those with the fewest neighbours first: on a chain
/// this is the shortest path. Where links are so dense that a table would have more than
/// `most_entries`, an integer linear program is solved instead: x(v, i) is 1 where v has choice i,
/// y(l, i, j) where both ends of l have theirs; the y of a link sum to the x of each end.
/// Throws: ValueError where no choice has a finite cost, or a variable has no choice at all.
///
/// Source: Bertelè and Brioschi, "Nonserial Dynamic Programming" (1972); the program is that over
/// the local polytope of Schlesinger (1976).
[[nodiscard]] std::vector<std::size_t> cheapest_assignment(
    const AssignmentProblem& problem, std::size_t most_entries = kMostTableEntries);

}  // namespace d5
