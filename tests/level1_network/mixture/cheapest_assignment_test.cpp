// SPDX-License-Identifier: Apache-2.0
// The cheapest of all assignments, against trying every one.
#include "level1_network/mixture/cheapest_assignment.hpp"

#include <catch2/catch.hpp>
#include <limits>

#include "d5/core/errors/error.hpp"
#include "d5/core/tensor/random.hpp"

using namespace d5;

namespace {

using Choices = std::vector<std::size_t>;
constexpr double kNever = std::numeric_limits<double>::infinity();

double least_of_all(const AssignmentProblem& problem) {
  Choices at(problem.costs.size(), 0);
  double least = kNever;
  while (true) {
    least = std::min(least, problem.cost_of(at));
    std::size_t v = 0;
    while (v < at.size() && ++at[v] == problem.costs[v].size()) at[v++] = 0;
    if (v == at.size()) return least;
  }
}

/// Costs are whole numbers, so that sums are exact; some pairs do not go together.
AssignmentProblem random_problem(RandomStream& random) {
  AssignmentProblem problem;
  problem.costs.resize(1 + random.below(7));
  for (auto& costs : problem.costs) {
    costs.resize(1 + random.below(4));
    for (double& cost : costs) cost = double(random.below(20));
  }
  for (std::size_t b = 1; b < problem.costs.size(); ++b) {
    for (std::size_t a = 0; a < b; ++a) {
      if (random.below(2) == 0) continue;
      auto& link = problem.links.emplace_back(AssignmentProblem::Link{a, b, {}});
      link.costs.resize(problem.costs[a].size() * problem.costs[b].size());
      for (double& cost : link.costs) {
        cost = random.below(10) == 0 ? kNever : double(random.below(20));
      }
    }
  }
  return problem;
}

}  // namespace

TEST_CASE("the best path is not the best choice node by node") {
  // Two frameworks, a chain of three; changing between them costs 5.
  AssignmentProblem problem{.costs = {{2, 3}, {3, 2}, {2, 3}}, .links = {}};
  const std::vector<double> change = {0, 5, 5, 0};
  problem.links = {{0, 1, change}, {1, 2, change}};
  CHECK(cheapest_assignment(problem) == Choices{0, 0, 0});  // 7; node by node it would be 16
}

TEST_CASE("dynamic programming and the integer program find what trying all assignments finds") {
  const std::uint64_t seed = 20;
  CAPTURE(seed);
  RandomStream random(seed);
  int impossible = 0;
  for (int round = 0; round < 300; ++round) {
    const AssignmentProblem problem = random_problem(random);
    const double least = least_of_all(problem);
    for (const std::size_t most_entries : {kMostTableEntries, std::size_t{0}}) {
      CAPTURE(round, most_entries);
      if (least == kNever) {
        CHECK_THROWS_AS(cheapest_assignment(problem, most_entries), ValueError);
        ++impossible;
      } else {
        CHECK(problem.cost_of(cheapest_assignment(problem, most_entries)) == least);
      }
    }
  }
  CHECK(impossible > 0);
  CHECK(impossible < 300);
}

TEST_CASE("an assignment of nothing is empty, and a variable without a choice an error") {
  CHECK(cheapest_assignment({}).empty());
  CHECK_THROWS_AS(cheapest_assignment({.costs = {{1}, {}}}), ValueError);
}
