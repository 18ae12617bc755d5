// SPDX-License-Identifier: Apache-2.0
// Source: Williams, Waterman, Patterson, "Roofline: an insightful visual performance model for
// multicore architectures" (CACM 2009).
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "evaluation/analysis/cell_plot.hpp"
#include "evaluation/analysis/layer_times.hpp"

namespace d5 {
namespace {

/// Layers by arithmetic intensity, with the machine's peak compute and bandwidth.
class RooflineAnalysis final : public Analysis {
 public:
  [[nodiscard]] AnalysisResult analyse(std::span<const AnalysedRun> runs) const override {
    using enum TextTable::Align;
    AnalysisResult result{.table = TextTable({"run",
                                              "framework",
                                              "layer",
                                              {"intensity", right},
                                              {"rate", right},
                                              {"roof", right},
                                              {"share of roof", right},
                                              "bound"})};
    for (const AnalysedRun& run : runs) {
      const double flop_roof = run.results.environment.peak_float32_flop_rate;
      const double byte_roof = run.results.environment.peak_byte_rate;
      Plot plot{
          .name = "layers-roofline",
          .title = "Roofline of layers" + (runs.size() > 1 ? ", " + run.name : ""),
          .x = {.label = "intensity", .unit = "flop/byte", .scale = PlotAxis::Scale::logarithmic},
          .y = {.label = "rate", .unit = "flop/s", .scale = PlotAxis::Scale::logarithmic}};
      std::map<std::string, PlotMark> dots;
      double least = 1e300, most = 0;
      for (const auto& layer : detail::layer_times(run)) {
        if (layer.flop <= 0 || layer.bytes <= 0 || layer.seconds.value <= 0) continue;
        const double intensity = layer.flop / layer.bytes;
        const double rate = layer.flop / layer.seconds.value;
        const double roof = std::min(flop_roof, byte_roof * intensity);
        result.table.add({runs.size() > 1 ? run.name : "", layer.framework, layer.name,
                          fmt::format("{:.3g}", intensity), with_prefix(rate, "flop/s"),
                          roof > 0 ? with_prefix(roof, "flop/s") : "",
                          roof > 0 ? fmt::format("{:.3g}", rate / roof) : "",
                          roof <= 0          ? ""
                          : roof < flop_roof ? "memory"
                                             : "compute"});
        dots[layer.framework].points.push_back({intensity, rate});
        least = std::min(least, intensity);
        most = std::max(most, intensity);
      }
      if (dots.empty()) continue;
      for (auto& [framework, mark] : dots) {
        mark.series = plot.series.size();
        plot.series.push_back(framework);
        plot.marks.push_back(std::move(mark));
      }
      if (flop_roof > 0 && byte_roof > 0) {
        const double ridge = flop_roof / byte_roof;
        least = std::min(least, ridge / 4);
        most = std::max(most, ridge * 4);
        plot.series.push_back("what this machine can");
        plot.marks.push_back(
            {.shape = PlotMark::Shape::line,
             .series = plot.series.size() - 1,
             .points = {{least, byte_roof * least}, {ridge, flop_roof}, {most, flop_roof}}});
      }
      result.plots.push_back(std::move(plot));
    }
    result.table.drop_empty_columns();
    return result;
  }
};

}  // namespace

namespace analysis {
void register_roofline(Registry<AnalysisEntry>& registry) {
  registry.add("roofline",
               AnalysisEntry::of<RooflineAnalysis>(
                   "roofline of layers: intensity and rate beside the machine's peaks"));
}
}  // namespace analysis
}  // namespace d5
