// SPDX-License-Identifier: Apache-2.0
// The one file that includes COIN-OR's solver CBC.
#include "level1_network/mixture/integer_program.hpp"

#include <Cbc_C_Interface.h>
#include <dlfcn.h>

#include <cmath>
#include <memory>

#include "d5/core/errors/error.hpp"

namespace d5 {
namespace {

/// CBC's functions, named as in its header. The library is loaded on first use with local symbols:
/// it brings the system's BLAS, which must not replace the one that a framework, such as torch,
/// brings.
class Solver {
 public:
  static const Solver& loaded() {
    static const Solver solver;
    return solver;
  }

 private:
  void* library_ = dlopen("libCbcSolver.so.3", RTLD_NOW | RTLD_LOCAL);

  template <class Function>
  Function* find(const char* name) const {
    void* const function = library_ ? dlsym(library_, name) : nullptr;
    if (!function) {
      const char* const reason = dlerror();
      throw Unsupported(std::string("integer programs: COIN-OR's solver CBC cannot be loaded: ") +
                        (reason ? reason : name) + "; install coinor-libcbc3");
    }
    return reinterpret_cast<Function*>(function);
  }

 public:
#define D5_CBC(name) decltype(::Cbc_##name)* name = find<decltype(::Cbc_##name)>("Cbc_" #name)
  D5_CBC(newModel);
  D5_CBC(deleteModel);
  D5_CBC(setLogLevel);
  D5_CBC(setParameter);
  D5_CBC(loadProblem);
  D5_CBC(setInteger);
  D5_CBC(solve);
  D5_CBC(isProvenOptimal);
  D5_CBC(getColSolution);
#undef D5_CBC
};

/// The rows in CBC's form, column by column.
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
  // CBC accepts no row without terms; its sum is 0.
  for (const auto& row : program.rows) {
    if (row.terms.empty() && (row.least > 0 || row.most < 0)) return std::nullopt;
  }
  const Solver& cbc = Solver::loaded();
  const std::unique_ptr<Cbc_Model, decltype(cbc.deleteModel)> model(cbc.newModel(),
                                                                    cbc.deleteModel);
  cbc.setLogLevel(model.get(), 0);
  cbc.setParameter(model.get(), "log", "0");
  const Columns columns(program);
  const std::vector<double> least(program.costs.size(), 0),
      most(program.most.begin(), program.most.end());
  cbc.loadProblem(model.get(), int(program.costs.size()), int(program.rows.size()),
                  columns.starts.data(), columns.rows.data(), columns.factors.data(), least.data(),
                  most.data(), program.costs.data(), columns.least.data(), columns.most.data());
  for (std::size_t i = 0; i < program.costs.size(); ++i) cbc.setInteger(model.get(), int(i));
  cbc.solve(model.get());
  if (!cbc.isProvenOptimal(model.get())) return std::nullopt;
  const double* solution = cbc.getColSolution(model.get());
  std::vector<std::int64_t> result;
  for (std::size_t i = 0; i < program.costs.size(); ++i) {
    result.push_back(std::llround(solution[i]));
  }
  return result;
}

}  // namespace d5
