// SPDX-License-Identifier: Apache-2.0
#include "level1_network/mixture/cheapest_assignment.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <list>
#include <optional>
#include <set>

#include "d5/core/errors/error.hpp"
#include "level1_network/mixture/integer_program.hpp"

namespace d5 {
namespace {

using Choices = std::vector<std::size_t>;
constexpr double kImpossible = std::numeric_limits<double>::infinity();

[[noreturn]] void throw_no_assignment() {
  throw ValueError("assignment: no choice of all variables has a finite cost");
}

/// The joint cost of some variables, the last one varying fastest.
struct Table {
  Choices variables;
  std::vector<double> costs;
};

/// Dynamic programming: eliminates a variable, and stores its least cost in a table over its
/// neighbours.
class Elimination {
 public:
  explicit Elimination(const AssignmentProblem& problem)
      : problem_(problem), neighbours_(problem.costs.size()) {
    for (std::size_t v = 0; v < problem.costs.size(); ++v) add({{v}, problem.costs[v]});
    for (const auto& link : problem.links) add({{link.first, link.second}, link.costs});
  }

  /// Empty if a table would be too large.
  std::optional<Choices> run(std::size_t most_entries) {
    std::set<std::size_t> left;
    for (std::size_t v = 0; v < neighbours_.size(); ++v) left.insert(v);
    while (!left.empty()) {
      const std::size_t v = *std::ranges::min_element(
          left, {}, [&](std::size_t candidate) { return neighbours_[candidate].size(); });
      if (entries(v) > double(most_entries)) return std::nullopt;
      eliminate(v);
      left.erase(v);
    }
    return choose();
  }

 private:
  struct Eliminated {
    std::size_t variable;
    Choices neighbours;
    Choices best;  ///< choice of the variable for each of the neighbours'
  };

  std::size_t choices(std::size_t v) const { return problem_.costs[v].size(); }

  double entries(std::size_t v) const {
    double result = 1;
    for (const std::size_t other : neighbours_[v]) result *= double(choices(other));
    return result;
  }

  void add(Table table) {
    for (const std::size_t v : table.variables) {
      neighbours_[v].insert(table.variables.begin(), table.variables.end());
      neighbours_[v].erase(v);
    }
    tables_.push_back(std::move(table));
  }

  std::size_t place(const Choices& variables) const {
    std::size_t result = 0;
    for (const std::size_t v : variables) result = result * choices(v) + at_[v];
    return result;
  }

  /// Advances to the next choice of `variables`; false after the last.
  bool advance(const Choices& variables) {
    for (auto v = variables.rbegin(); v != variables.rend(); ++v) {
      if (++at_[*v] < choices(*v)) return true;
      at_[*v] = 0;
    }
    return false;
  }

  void eliminate(std::size_t v) {
    std::list<Table> reading;
    for (auto table = tables_.begin(); table != tables_.end();) {
      const auto next = std::next(table);
      if (std::ranges::find(table->variables, v) != table->variables.end()) {
        reading.splice(reading.end(), tables_, table);
      }
      table = next;
    }
    Eliminated gone{v, {neighbours_[v].begin(), neighbours_[v].end()}, {}};
    Table message{gone.neighbours, {}};
    at_.assign(problem_.costs.size(), 0);
    do {
      double least = kImpossible;
      std::size_t best = 0;
      for (at_[v] = 0; at_[v] < choices(v); ++at_[v]) {
        double cost = 0;
        for (const Table& table : reading) cost += table.costs[place(table.variables)];
        if (cost < least) least = cost, best = at_[v];
      }
      at_[v] = 0;
      message.costs.push_back(least);
      gone.best.push_back(best);
    } while (advance(gone.neighbours));
    for (const std::size_t other : gone.neighbours) neighbours_[other].erase(v);
    if (gone.neighbours.empty()) {
      if (message.costs.front() == kImpossible) throw_no_assignment();
    } else {
      add(std::move(message));
    }
    gone_.push_back(std::move(gone));
  }

  Choices choose() {
    at_.assign(problem_.costs.size(), 0);
    for (auto gone = gone_.rbegin(); gone != gone_.rend(); ++gone) {
      at_[gone->variable] = gone->best[place(gone->neighbours)];
    }
    return at_;
  }

  const AssignmentProblem& problem_;
  std::vector<std::set<std::size_t>> neighbours_;
  std::list<Table> tables_;
  std::vector<Eliminated> gone_;
  Choices at_;  ///< a choice of each variable
};

Choices by_integer_program(const AssignmentProblem& problem) {
  IntegerProgram program;
  const auto add_variables = [&](const std::vector<double>& costs) {
    std::vector<std::size_t> result;
    for (const double cost : costs) {
      const bool possible = std::isfinite(cost);
      result.push_back(program.add_variable(possible ? cost : 0, possible ? 1 : 0));
    }
    return result;
  };
  std::vector<std::vector<std::size_t>> chosen;
  for (const auto& costs : problem.costs) {
    chosen.push_back(add_variables(costs));
    IntegerProgram::Row& one = program.rows.emplace_back();
    for (const std::size_t x : chosen.back()) one.terms.emplace_back(x, 1);
    one.least = one.most = 1;
  }
  for (const auto& link : problem.links) {
    const auto together = add_variables(link.costs);
    const auto &first = chosen[link.first], &second = chosen[link.second];
    for (std::size_t i = 0; i < first.size(); ++i) {
      IntegerProgram::Row& row = program.rows.emplace_back();
      row.terms.emplace_back(first[i], -1);
      for (std::size_t j = 0; j < second.size(); ++j) {
        row.terms.emplace_back(together[i * second.size() + j], 1);
      }
    }
    for (std::size_t j = 0; j < second.size(); ++j) {
      IntegerProgram::Row& row = program.rows.emplace_back();
      row.terms.emplace_back(second[j], -1);
      for (std::size_t i = 0; i < first.size(); ++i) {
        row.terms.emplace_back(together[i * second.size() + j], 1);
      }
    }
  }
  const auto solution = minimise(program);
  if (!solution) throw_no_assignment();
  Choices result;
  for (const auto& variables : chosen) {
    const auto taken = std::ranges::find_if(variables, [&](auto x) { return (*solution)[x] == 1; });
    result.push_back(std::size_t(taken - variables.begin()));
  }
  return result;
}

}  // namespace

double AssignmentProblem::cost_of(const Choices& choices) const {
  double result = 0;
  for (std::size_t v = 0; v < costs.size(); ++v) result += costs[v][choices[v]];
  for (const Link& link : links) {
    result += link.costs[choices[link.first] * costs[link.second].size() + choices[link.second]];
  }
  return result;
}

Choices cheapest_assignment(const AssignmentProblem& problem, std::size_t most_entries) {
  if (std::ranges::any_of(problem.costs, [](const auto& costs) { return costs.empty(); })) {
    throw_no_assignment();
  }
  if (auto choices = Elimination(problem).run(most_entries)) return *std::move(choices);
  return by_integer_program(problem);
}

}  // namespace d5
