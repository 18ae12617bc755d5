// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/analysis/analysis.hpp"
#include "evaluation/analysis/cell_plot.hpp"

namespace d5 {
namespace {

class AccuracyAnalysis final : public Analysis {
 public:
  [[nodiscard]] AnalysisResult analyse(std::span<const AnalysedRun> runs) const override {
    using enum TextTable::Align;
    AnalysisResult result{.table = TextTable({"run",
                                              "model",
                                              "framework",
                                              "data set",
                                              "measure",
                                              {"value", right},
                                              {"95% interval", right},
                                              {"claimed", right},
                                              "status"})};
    detail::RowsPlot rows({"accuracy"});
    for (const AnalysedRun& run : runs) {
      for (const Measurement& m : run.results.measurements) {
        if (m.level != "evaluation" || m.quantity != Quantity::accuracy || m.samples.empty()) {
          continue;
        }
        const std::optional<Estimate> value = estimate(m);
        result.table.add({runs.size() > 1 ? run.name : "", m.subject, m.framework,
                          condition_of(m, "dataset"), m.metric, detail::value_text(value, "1"),
                          detail::interval_text(value, "1"), condition_of(m, "claimed"),
                          std::string(name_of(m.status))});
        rows.add(m.subject + " " + m.framework + " " + m.metric +
                     (runs.size() > 1 ? " in " + run.name : ""),
                 {value});
      }
    }
    result.table.drop_empty_columns();
    rows.draw({.name = "evaluation-accuracy",
               .title = "Accuracy",
               .note = "with its 95% interval",
               .x = {.label = "accuracy", .unit = "1"}},
              result.plots);
    return result;
  }
};

}  // namespace

namespace analysis {
void register_accuracy(Registry<AnalysisEntry>& registry) {
  registry.add("accuracy",
               AnalysisEntry::of<AccuracyAnalysis>("accuracy of each model, with its claim"));
}
}  // namespace analysis
}  // namespace d5
