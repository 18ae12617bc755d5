// SPDX-License-Identifier: Apache-2.0
// The one file that sees COIN-OR's solver CBC.
#include "level1_network/micro_batch/integer_program.hpp"

#include <Cbc_C_Interface.h>

#include <cmath>
#include <memory>

namespace d5 {
namespace {

/// The rows, column by column, as CBC takes them.
struct Columns {
  explicit Columns(const IntegerProgram& program) : starts(program.costs.size() + 1) {
    for (const auto& row : program.rows) {
      for (const auto& [variable, factor] : row.terms) ++starts[variable + 1];
      least.push_back(row.least);
      most.push_back(row.most);
    }
    for (std::size_t i = 1; i < starts.size(); ++i) starts[i] += starts[i - 1];
    rows.resize(std::size_t(starts.back()));
    factors.resize(rows.size());
    std::vector<CoinBigIndex> next(starts.begin(), starts.end() - 1);
    for (std::size_t r = 0; r < program.rows.size(); ++r) {
      for (const auto& [variable, factor] : program.rows[r].terms) {
        const auto place = std::size_t(next[variable]++);
        rows[place] = int(r);
        factors[place] = factor;
      }
    }
  }
  std::vector<CoinBigIndex> starts;
  std::vector<int> rows;
  std::vector<double> factors, least, most;
};

}  // namespace

std::optional<std::vector<std::int64_t>> minimise(const IntegerProgram& program) {
  // CBC takes no row without terms, whose sum is 0.
  for (const auto& row : program.rows) {
    if (row.terms.empty() && (row.least > 0 || row.most < 0)) return std::nullopt;
  }
  const std::unique_ptr<Cbc_Model, decltype(&Cbc_deleteModel)> model(Cbc_newModel(),
                                                                     &Cbc_deleteModel);
  Cbc_setLogLevel(model.get(), 0);
  Cbc_setParameter(model.get(), "log", "0");
  const Columns columns(program);
  const std::vector<double> least(program.costs.size(), 0),
      most(program.most.begin(), program.most.end());
  Cbc_loadProblem(model.get(), int(program.costs.size()), int(program.rows.size()),
                  columns.starts.data(), columns.rows.data(), columns.factors.data(), least.data(),
                  most.data(), program.costs.data(), columns.least.data(), columns.most.data());
  for (std::size_t i = 0; i < program.costs.size(); ++i) Cbc_setInteger(model.get(), int(i));
  Cbc_solve(model.get());
  if (!Cbc_isProvenOptimal(model.get())) return std::nullopt;
  const double* solution = Cbc_getColSolution(model.get());
  std::vector<std::int64_t> result;
  for (std::size_t i = 0; i < program.costs.size(); ++i) {
    result.push_back(std::llround(solution[i]));
  }
  return result;
}

}  // namespace d5
