// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "d5/evaluation/analysis/evaluation_cell.hpp"
#include "evaluation/analysis/cell_plot.hpp"

namespace d5 {
namespace {

/// Samples of each repetition, by name.
std::map<std::string, double> median_latencies(const EvaluationCell& cell) {
  std::map<std::string, double> medians;
  for (const Measurement* record : cell.records) {
    if (record->metric != "latency" || record->samples.empty()) continue;
    medians[condition_of(*record, "repetition")] =
        estimate(record->samples, Statistic{.quantile = 0.5}).value;
  }
  return medians;
}

/// Samples of the repetitions that both have, which took turns.
Comparison compare_turns(const EvaluationCell& traced, const EvaluationCell& without) {
  const auto beside = median_latencies(without);
  std::vector<double> a, b;
  for (const auto& [repetition, median] : median_latencies(traced)) {
    const auto other = beside.find(repetition);
    if (other == beside.end()) continue;
    a.push_back(median);
    b.push_back(other->second);
  }
  return compare(a, b);
}

/// Overhead of tracing: the median latency at each trace level over that without a trace, turn by
/// turn, because a machine's speed drifts by more than this overhead.
class TraceCostAnalysis final : public Analysis {
 public:
  [[nodiscard]] AnalysisResult analyse(std::span<const AnalysedRun> runs) const override {
    using enum TextTable::Align;
    const auto cells = evaluation_cells(runs);
    const auto names = names_of(cells);
    AnalysisResult result{.table = TextTable({"what",
                                              "trace",
                                              {"turns", right},
                                              {"p50", right},
                                              {"over none", right},
                                              {"95% interval", right}})};
    detail::RowsPlot rows({"over none"});
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const EvaluationCell* without = without_trace(cells, cells[i]);
      if (!without) continue;
      const Comparison turns = compare_turns(cells[i], *without);
      if (turns.pairs == 0) continue;
      const Estimate ratio{turns.ratio, turns.ratio_interval, 0.95};
      result.table.add({names[i], cells[i].trace_level, std::to_string(turns.pairs),
                        detail::value_text(cells[i].latency(0.5), "s"),
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
  registry.add("trace_cost", AnalysisEntry::of<TraceCostAnalysis>(
                                 "overhead of each trace level, relative to no trace"));
}
}  // namespace analysis
}  // namespace d5
