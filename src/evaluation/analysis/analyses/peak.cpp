// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "d5/evaluation/analysis/evaluation_cell.hpp"
#include "evaluation/analysis/cell_plot.hpp"

namespace d5 {
namespace {

double rate_of(const Measurement& record) { return condition_number(record, "rate").value_or(0); }

/// Latencies of a peak search, by rate, and the other numbers that its objectives limit.
class PeakAnalysis final : public Analysis {
 public:
  [[nodiscard]] AnalysisResult analyse(std::span<const AnalysedRun> runs) const override {
    using enum TextTable::Align;
    const auto cells = evaluation_cells(runs);
    const auto names = names_of(cells);
    AnalysisResult result{.table = TextTable({"what",
                                              {"rate", right},
                                              {"queries", right},
                                              {"value", right},
                                              {"95% interval", right},
                                              "objective",
                                              "verdict",
                                              "because"})};
    std::vector<detail::Curve> curves;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      std::vector<const Measurement*> steps;
      std::ranges::copy_if(cells[i].records, std::back_inserter(steps),
                           [](const auto* one) { return one->metric.ends_with("_at_rate"); });
      std::ranges::stable_sort(steps, {}, [](const auto* one) { return rate_of(*one); });
      detail::Curve curve{.name = names[i], .x = {}, .y = {}};
      for (const Measurement* step : steps) {
        const auto number = EvaluationCell::estimate_of(step);
        const double queries =
            condition_number(*step, "queries").value_or(double(step->samples.size()));
        result.table.add({names[i], with_prefix(rate_of(*step), "query/s"),
                          fmt::format("{}", queries), detail::value_text(number, step->unit),
                          detail::interval_text(number, step->unit),
                          condition_of(*step, "objective"), condition_of(*step, "verdict"),
                          condition_of(*step, "because")});
        if (!number || step->metric != "latency_at_rate") continue;
        curve.x.push_back(rate_of(*step));
        curve.y.push_back(*number);
      }
      if (curve.x.size() > 1) curves.push_back(std::move(curve));
    }
    if (curves.empty()) return result;
    using enum PlotAxis::Scale;
    result.plots.push_back(
        detail::curves_plot({.name = "evaluation-peak",
                             .title = "Latency by the rate of queries",
                             .x = {.label = "rate", .unit = "query/s", .scale = logarithmic},
                             .y = {.label = "latency", .unit = "s", .scale = logarithmic}},
                            curves));
    return result;
  }
};

}  // namespace

namespace analysis {
void register_peak(Registry<AnalysisEntry>& registry) {
  registry.add("peak",
               AnalysisEntry::of<PeakAnalysis>(
                   "numbers by rate, from 'd5 eval find-peak', with the verdict of each rate"));
}
}  // namespace analysis
}  // namespace d5
