// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "d5/evaluation/analysis/evaluation_cell.hpp"
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
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::size_t queries = cells[i].samples_of("latency").size();
      if (queries == 0) continue;
      std::vector<std::string> row = {names[i], std::to_string(queries)};
      for (const double percentile : kPercentiles) {
        const auto latency = cells[i].latency(percentile);
        row.push_back(detail::value_text(latency, "s"));
        row.push_back(detail::interval_text(latency, "s"));
      }
      row.emplace_back(name_of(cells[i].status()));
      result.table.add(std::move(row));
    }
    detail::draw_cells(
        {.name = "evaluation-latency",
         .title = "Latency",
         .note = "percentiles with their 95% intervals, of all queries",
         .x = {.label = "latency", .unit = "s", .scale = PlotAxis::Scale::logarithmic}},
        {"p50", "p90", "p99"}, cells,
        [](const EvaluationCell& cell) {
          std::vector<std::optional<Estimate>> latencies;
          for (const double percentile : kPercentiles)
            latencies.push_back(cell.latency(percentile));
          return latencies;
        },
        result.plots);
    return result;
  }
};

}  // namespace

namespace analysis {
void register_latency(Registry<AnalysisEntry>& registry) {
  registry.add("latency", AnalysisEntry::of<LatencyAnalysis>(
                              "latency percentiles of each cell, with intervals"));
}
}  // namespace analysis
}  // namespace d5
