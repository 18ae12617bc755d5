// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "evaluation/analysis/cell_plot.hpp"
#include "evaluation/analysis/layer_times.hpp"

namespace d5 {
namespace {

/// Time in which a framework runs no layer, between the end of one and the begin of the next, from
/// the traces of a run.
class BetweenLayersAnalysis final : public Analysis {
 public:
  [[nodiscard]] AnalysisResult analyse(std::span<const AnalysedRun> runs) const override {
    using enum TextTable::Align;
    AnalysisResult result{.table = TextTable({"run",
                                              "framework",
                                              "after",
                                              "before",
                                              {"time between", right},
                                              {"95% interval", right},
                                              {"share of layers", right}})};
    for (const AnalysedRun& run : runs) {
      std::map<std::string, double> totals;  // times of the layers themselves
      for (const auto& layer : detail::layer_times(run)) {
        totals[layer.framework] += layer.seconds.value;
      }
      std::map<std::string, std::vector<detail::DepthBar>> bars;  // by framework, in order
      for (const detail::LayerGap& gap : detail::layer_gaps(run)) {
        const double total = totals[gap.framework];
        result.table.add(
            {runs.size() > 1 ? run.name : "", gap.framework, gap.after, gap.before,
             detail::value_text(gap.seconds, "s"), detail::interval_text(gap.seconds, "s"),
             total > 0 ? fmt::format("{:.2f}%", 100 * gap.seconds.value / total) : ""});
        bars[gap.framework].push_back({gap.after + " to " + gap.before,
                                       "after " + gap.after.substr(0, gap.after.find(' ')),
                                       gap.seconds.value});
      }
      for (const auto& [framework, all] : bars) {
        result.plots.push_back(detail::depth_plot(
            {.name = bars.size() > 1 ? "between-layers-" + framework : "between-layers",
             .title =
                 "Time between layers, " + framework + (runs.size() > 1 ? ", " + run.name : ""),
             .note = "median over runs of the model, by the type of the layer before",
             .x = {.label = "place in the order of layers", .scale = PlotAxis::Scale::whole},
             .y = {.label = "time", .unit = "s"}},
            all));
      }
    }
    result.table.drop_empty_columns();
    return result;
  }
};

}  // namespace

namespace analysis {
void register_between_layers(Registry<AnalysisEntry>& registry) {
  registry.add("between_layers", AnalysisEntry::of<BetweenLayersAnalysis>(
                                     "time between the layers of a model, from its trace"));
}
}  // namespace analysis
}  // namespace d5
