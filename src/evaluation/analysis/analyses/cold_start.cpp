// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <set>

#include "d5/evaluation/analysis/evaluation_cell.hpp"
#include "evaluation/analysis/cell_plot.hpp"

namespace d5 {
namespace {

class ColdStartAnalysis final : public Analysis {
 public:
  [[nodiscard]] AnalysisResult analyse(std::span<const AnalysedRun> runs) const override {
    using enum TextTable::Align;
    const auto cells = evaluation_cells(runs);
    auto models = cells;
    for (EvaluationCell& cell : models) cell.scenario.clear(), cell.batch.clear();
    const auto names = names_of(models);
    AnalysisResult result{.table = TextTable({"what",
                                              {"open", right},
                                              {"first predict", right},
                                              {"p50", right},
                                              {"first / p50", right}})};
    detail::RowsPlot rows({"open", "first predict", "p50"});
    std::set<const Measurement*> seen;  // several cells share an opened model
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const auto open = EvaluationCell::estimate_of(cells[i].cold_start);
      if (!open || !seen.insert(cells[i].cold_start).second) continue;
      const auto first = EvaluationCell::estimate_of(cells[i].first_predict),
                 later = cells[i].latency(0.5);
      result.table.add({names[i], detail::value_text(open, "s"), detail::value_text(first, "s"),
                        detail::value_text(later, "s"),
                        first && later ? fmt::format("{:.3g}", first->value / later->value) : ""});
      rows.add(names[i], {open, first, later});
    }
    rows.draw({.name = "evaluation-cold-start",
               .title = "Cold start",
               .note = "opening a model, its first answer, and the median of later ones",
               .x = {.label = "time", .unit = "s", .scale = PlotAxis::Scale::logarithmic}},
              result.plots);
    return result;
  }
};

}  // namespace

namespace analysis {
void register_cold_start(Registry<AnalysisEntry>& registry) {
  registry.add("cold_start",
               AnalysisEntry::of<ColdStartAnalysis>(
                   "time to open a model and of its first answer, beside later ones"));
}
}  // namespace analysis
}  // namespace d5
