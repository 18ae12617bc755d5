// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "d5/core/errors/error.hpp"
#include "d5/core/tables/text_table.hpp"
#include "d5/evaluation/analysis/evaluation_choice.hpp"
#include "evaluation/evaluation_module.hpp"
#include "row_dicts.hpp"

namespace d5::python {
namespace {

using Limits = std::map<std::string, std::string>;

ChoiceOptions wishes_of(const Limits& limits, const std::string& minimise,
                        const std::string& maximise, double price, const std::string& currency) {
  if (minimise.empty() == maximise.empty()) {
    throw ValueError(
        "d5.choose: name an objective: minimise=\"cost\", or maximise=\"throughput\", ...");
  }
  if (!(price >= 0) || std::isinf(price)) {
    throw ValueError(
        fmt::format("d5.choose: price is {}, expected the price of an hour, 0 or more", price));
  }
  ChoiceOptions wishes;
  wishes.price_per_hour = price;
  wishes.currency = currency;
  wishes.objective = maximise.empty() ? minimise : maximise;
  wishes.wish = maximise.empty() ? ChoiceOptions::Wish::minimise : ChoiceOptions::Wish::maximise;
  for (const auto& [number, words] : limits) {
    wishes.requirements.push_back(requirement_of(number, words));
  }
  return wishes;
}

RowDicts rows_of_candidates(const std::vector<Candidate>& candidates) {
  return rows_of(candidates, [](Values& row, const Candidate& one) {
    row["name"] = one.name;
    row["subject"] = one.cell.subject;
    row["framework"] = one.cell.framework;
    row["scenario"] = one.cell.scenario;
    row["batch"] = one.cell.batch;
    row["will_do"] = one.why_not.empty();
    row["why_not"] = one.why_not;
    row["doubt"] = one.doubt;
    row["value"] = one.objective ? py::cast(one.objective->value) : py::none();
  });
}

std::pair<TextTable, RowDicts> choose_among(const std::vector<Path>& files, const Limits& limits,
                                            const std::string& minimise,
                                            const std::string& maximise, double price,
                                            const std::string& currency) {
  const ChoiceOptions wishes = wishes_of(limits, minimise, maximise, price, currency);
  std::vector<std::string> paths;
  for (const Path& file : files) paths.push_back(file.string());
  const auto runs = read_runs(paths);
  const auto cells = evaluation_cells(runs);
  if (cells.empty()) throw ValueError("d5.choose: the files hold no scenario of an evaluation");
  const auto candidates = choose(cells, wishes);
  return {choice_table(candidates, wishes), rows_of_candidates(candidates)};
}

}  // namespace

void bind_choice(py::module_& m) {
  m.def("choice_numbers", &choice_numbers,
        "Names of the numbers that d5.choose can limit and optimise.");
  m.def("choose", &choose_among, py::arg("files"), py::arg("limits") = Limits(), py::kw_only(),
        py::arg("minimise") = "", py::arg("maximise") = "", py::arg("price") = 0.0,
        py::arg("currency") = ChoiceOptions().currency,
        "Chooses the best model, framework and batch of results files within limits. Returns a "
        "table, and a dict for each candidate (will_do, why_not, doubt, value), the best first. "
        "`limits` are by d5.choice_numbers(): {\"accuracy\": \">=0.75\", \"p99\": \"<=50ms\"}; "
        "`price` of an hour, for the cost of a million predictions: `d5 eval choose`.");
}

}  // namespace d5::python
