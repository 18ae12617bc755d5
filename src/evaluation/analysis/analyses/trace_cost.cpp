// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>

#include "core/statistics/ratio_estimate.hpp"
#include "d5/evaluation/evaluation_cell.hpp"
#include "evaluation/analysis/cell_plot.hpp"

namespace d5 {
namespace {

/// What recording takes: the median latency with each level of trace, over that without.
class TraceCostAnalysis final : public Analysis {
 public:
  [[nodiscard]] AnalysisResult analyse(std::span<const AnalysedRun> runs) const override {
    using enum TextTable::Align;
    const auto cells = evaluation_cells(runs);
    const auto names = names_of(cells);
    AnalysisResult result{
        .table = TextTable(
            {"what", "trace", {"p50", right}, {"over none", right}, {"95% interval", right}})};
    detail::RowsPlot rows({"over none"});
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const EvaluationCell* without = without_trace(cells, cells[i]);
      const auto traced = cells[i].latency(0.5);
      if (!without || !traced || !without->latency(0.5)) continue;
      const Estimate ratio = detail::ratio_estimate(*traced, *without->latency(0.5));
      result.table.add({names[i], cells[i].trace_level, detail::value_text(traced, "s"),
                        fmt::format("{:.4g}", ratio.value), detail::interval_text(ratio, "1")});
      rows.add(names[i], {ratio});
    }
    rows.draw({.name = "evaluation-trace-cost",
               .title = "Latency with a trace, over that without",
               .x = {.label = "ratio", .unit = ""}},
              result.plots);
    return result;
  }

 private:
  static const EvaluationCell* without_trace(const std::vector<EvaluationCell>& cells,
                                             const EvaluationCell& traced) {
    if (traced.trace_level.empty()) return nullptr;
    for (const EvaluationCell& cell : cells) {
      if (cell.trace_level.empty() && cell.run == traced.run && cell.subject == traced.subject &&
          cell.framework == traced.framework && cell.device == traced.device &&
          cell.scenario == traced.scenario && cell.batch == traced.batch) {
        return &cell;
      }
    }
    return nullptr;
  }
};

}  // namespace

namespace analysis {
void register_trace_cost(Registry<AnalysisEntry>& registry) {
  registry.add("trace_cost",
               AnalysisEntry::of<TraceCostAnalysis>("what each level of trace costs, beside none"));
}
}  // namespace analysis
}  // namespace d5
