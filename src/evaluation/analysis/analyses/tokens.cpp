// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/analysis/evaluation_cell.hpp"
#include "evaluation/analysis/cell_plot.hpp"

namespace d5 {
namespace {

/// A quantile of a metric of tokens over all repetitions. A run's gaps are kept as one value, which
/// weighs each by its tokens: of repeated ones the median.
std::optional<Estimate> quantile_of(const EvaluationCell& cell, std::string_view metric,
                                    double quantile) {
  const Statistic statistic{.of = Statistic::Of::quantile, .quantile = quantile};
  if (metric != "itl") return cell.pooled(metric, statistic);
  std::vector<const Measurement*> records;
  std::vector<double> values;
  for (const Measurement* record : cell.records) {
    if (record->metric != metric || record->statistic != statistic || record->samples.empty()) {
      continue;
    }
    records.push_back(record);
    values.push_back(estimate(*record).value);
  }
  if (records.size() == 1) return estimate(*records.front());
  if (records.empty()) return std::nullopt;
  return estimate(values);
}

class TokensAnalysis final : public Analysis {
 public:
  [[nodiscard]] AnalysisResult analyse(std::span<const AnalysedRun> runs) const override {
    using enum TextTable::Align;
    const auto cells = evaluation_cells(runs);
    const auto names = names_of(cells);
    AnalysisResult result{.table = TextTable({"what",
                                              {"answers", right},
                                              {"ttft p50", right},
                                              {"ttft p99", right},
                                              {"itl p50", right},
                                              {"itl p99", right},
                                              {"tpot p50", right},
                                              {"tpot p99", right},
                                              {"output rate", right},
                                              {"attainment", right},
                                              {"goodput", right},
                                              "status"})};
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const EvaluationCell& cell = cells[i];
      const std::size_t answers = cell.samples_of("ttft").size();
      if (answers == 0) continue;
      std::vector<std::string> row = {names[i], std::to_string(answers)};
      for (const char* metric : {"ttft", "itl", "tpot"}) {
        for (const double quantile : {0.5, 0.99}) {
          row.push_back(detail::value_text(quantile_of(cell, metric, quantile), "s"));
        }
      }
      row.push_back(detail::value_text(cell.of_repetitions("output_rate"), "token/s"));
      row.push_back(
          detail::value_text(cell.pooled("attainment", {.of = Statistic::Of::share}), "1"));
      row.push_back(detail::value_text(cell.of_repetitions("goodput"), "query/s"));
      row.emplace_back(name_of(cell.status()));
      result.table.add(std::move(row));
    }
    result.table.drop_empty_columns();
    detail::draw_cells(
        {.name = "evaluation-tokens",
         .title = "Times of tokens",
         .note = "medians with their 95% intervals",
         .x = {.label = "time", .unit = "s", .scale = PlotAxis::Scale::logarithmic}},
        {"ttft", "itl", "tpot"}, cells,
        [](const EvaluationCell& cell) {
          std::vector<std::optional<Estimate>> times;
          for (const char* metric : {"ttft", "itl", "tpot"}) {
            times.push_back(quantile_of(cell, metric, 0.5));
          }
          return times;
        },
        result.plots);
    return result;
  }
};

}  // namespace

namespace analysis {
void register_tokens(Registry<AnalysisEntry>& registry) {
  registry.add("tokens", AnalysisEntry::of<TokensAnalysis>(
                             "times of generated tokens of each cell: ttft, itl, tpot, goodput"));
}
}  // namespace analysis
}  // namespace d5
