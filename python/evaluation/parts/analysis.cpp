// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/analysis/analysis.hpp"

#include <pybind11/trampoline_self_life_support.h>

#include "answered.hpp"
#include "d5/core/tables/text_table.hpp"
#include "long_call.hpp"
#include "part_kind.hpp"

namespace d5::python {
namespace {

constexpr const char* kAnalysisHelp =
    R"(Answers a question about one or more runs with a table; base class of analyses in Python.

    class Slowest(d5.Analysis):
        def analyse(self, runs):
            return [{"run": name, "slowest": max(r.value for r in rows)} for name, rows, traces in runs]

`runs` are tuples of a name, its d5.Measurements and its d5.Timelines. A row is a dict; the first row's
keys are the columns.)";

TextTable table_of(const py::list& rows) {
  std::vector<std::string> columns;
  if (rows.size() > 0) {
    for (const auto& [column, value] :
         answered<py::dict>(rows[0], "a row of a d5.Analysis", "a dict")) {
      columns.push_back(column.cast<std::string>());
    }
  }
  TextTable table({columns.begin(), columns.end()});
  for (const auto& row : rows) {
    const auto cells = answered<py::dict>(row, "a row of a d5.Analysis", "a dict");
    std::vector<std::string> words;
    for (const auto& column : columns) {
      words.push_back(std::string(py::str(cells[py::cast(column)])));
    }
    table.add(std::move(words));
  }
  return table;
}

class PythonAnalysis final : public Analysis, public py::trampoline_self_life_support {
 public:
  [[nodiscard]] AnalysisResult analyse(std::span<const AnalysedRun> runs) const override {
    return call_python([&]() -> AnalysisResult {
      const py::function method =
          method_of<Analysis>(this, "analyse", "analyse(runs), which returns a list of dicts");
      py::list given;
      for (const AnalysedRun& run : runs) {
        given.append(py::make_tuple(run.name, Measurements(run.results.measurements), run.traces));
      }
      const auto rows =
          answered<py::list>(method(given), py::cast(this), "analyse()", "a list of dicts");
      TextTable table = table_of(rows);
      return {.table = std::move(table)};
    });
  }
};

}  // namespace

void register_analysis(py::module_& m) {
  py::classh<Analysis, PythonAnalysis> analysis(m, "Analysis", kAnalysisHelp);
  analysis.def(py::init<>());
  let_derive(analysis);
  add_part_kind<Analysis>(analyses(), "Analysis");
}

}  // namespace d5::python
