// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "d5/evaluation/evaluation_cell.hpp"
#include "evaluation/analysis/cell_plot.hpp"

namespace d5 {
namespace {

constexpr double kPercentiles[] = {0.5, 0.9, 0.99};

class LatencyAnalysis final : public Analysis {
 public:
  [[nodiscard]] AnalysisResult analyse(std::span<const AnalysedRun> runs) const override {
    using enum TextTable::Align;
    const auto cells = evaluation_cells(runs);
    const auto names = names_of(cells);
    AnalysisResult result{.table = TextTable({"what",
                                              {"queries", right},
                                              {"p50", right},
                                              {"95% interval", right},
                                              {"p90", right},
                                              {"95% interval", right},
                                              {"p99", right},
                                              {"95% interval", right},
                                              "status"})};
    std::vector<std::string> rows;
    std::vector<detail::RowSeries> series = {{"p50", {}}, {"p90", {}}, {"p99", {}}};
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const Measurement* record = cells[i].find("latency");
      if (!record) continue;
      std::vector<std::string> row = {names[i], std::to_string(record->samples.size())};
      for (std::size_t p = 0; p < series.size(); ++p) {
        const auto latency = cells[i].latency(kPercentiles[p]);
        row.push_back(detail::value_text(latency, "s"));
        row.push_back(detail::interval_text(latency, "s"));
        series[p].values.push_back(latency);
      }
      row.emplace_back(name_of(cells[i].status()));
      rows.push_back(names[i]);
      result.table.add(std::move(row));
    }
    if (rows.empty()) return result;
    result.plots.push_back(detail::rows_plot(
        {.name = "evaluation-latency",
         .title = "Latency",
         .note = "percentiles with their 95% intervals, of all queries",
         .x = {.label = "latency", .unit = "s", .scale = PlotAxis::Scale::logarithmic}},
        rows, series));
    return result;
  }
};

}  // namespace

namespace analysis {
void register_latency(Registry<AnalysisEntry>& registry) {
  registry.add("latency",
               AnalysisEntry::of<LatencyAnalysis>("percentiles of each cell, with intervals"));
}
}  // namespace analysis
}  // namespace d5
