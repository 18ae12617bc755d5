// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "d5/evaluation/analysis/evaluation_cell.hpp"
#include "evaluation/analysis/cell_plot.hpp"

namespace d5 {
namespace {

double batch_of(const EvaluationCell& cell) {
  return condition_number(*cell.records.front(), "batch").value_or(0);
}

/// The name of a cell without its batch, among those of its model.
std::string name_in_model(const EvaluationCell& cell, const std::vector<EvaluationCell>& all) {
  std::vector<EvaluationCell> cells = {cell};
  cells.front().batch.clear();
  std::ranges::copy_if(all, std::back_inserter(cells),
                       [&](const EvaluationCell& other) { return other.subject == cell.subject; });
  return names_of(cells).front();
}

/// Throughput over batch sizes: relative to the smallest, and as a share of linear scaling.
class BatchScalingAnalysis final : public Analysis {
 public:
  [[nodiscard]] AnalysisResult analyse(std::span<const AnalysedRun> runs) const override {
    using enum TextTable::Align;
    auto cells = evaluation_cells(runs);
    std::map<std::string, std::map<double, const EvaluationCell*>> lines;  // by batch
    std::vector<EvaluationCell> without_batch = cells;
    for (auto& cell : without_batch) cell.batch.clear();
    const auto names = names_of(without_batch);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const double batch = batch_of(cells[i]);
      if (cells[i].throughput() && batch > 0) lines[names[i]].try_emplace(batch, &cells[i]);
    }
    AnalysisResult result{.table = TextTable({"what",
                                              {"batch", right},
                                              {"throughput", right},
                                              {"times", right},
                                              {"efficiency", right},
                                              {"p50", right}})};
    std::map<std::string, std::vector<detail::Curve>> curves;  // by model if there are many
    const bool apart = lines.size() > kMostTogether;
    std::set<double> sizes;  // batch sizes, which the axis names
    for (const auto& [name, batches] : lines) {
      for (const auto& [batch, cell] : batches) sizes.insert(batch);
    }
    std::vector<std::string> ticks;
    for (const double size : sizes) ticks.push_back(fmt::format("{}", size));
    for (const auto& [name, batches] : lines) {
      if (batches.size() < 2) continue;
      const auto& [least, first] = *batches.begin();
      detail::Curve curve{
          .name = apart ? name_in_model(*first, without_batch) : name, .x = {}, .y = {}};
      for (const auto& [batch, cell] : batches) {
        const Estimate rate = *cell->throughput();
        const double times = rate.value / first->throughput()->value;
        result.table.add({name, fmt::format("{}", batch), detail::value_text(rate, "sample/s"),
                          fmt::format("{:.3g}", times),
                          fmt::format("{:.3g}", times * least / batch),
                          detail::value_text(cell->latency(0.5), "s")});
        curve.x.push_back(double(std::distance(sizes.begin(), sizes.find(batch))));
        curve.y.push_back(rate);
      }
      curves[apart ? first->subject : ""].push_back(std::move(curve));
    }
    for (const auto& [model, some] : curves) {
      const bool named = curves.size() > 1;
      result.plots.push_back(detail::curves_plot(
          {.name = "evaluation-batch-scaling" + (named ? "-" + model : ""),
           .title = "Throughput by batch" + (named ? ": " + model : ""),
           .x = {.label = "batch", .names = ticks},
           .y = {.label = "throughput", .unit = "sample/s", .scale = PlotAxis::Scale::logarithmic}},
          some));
    }
    return result;
  }

 private:
  static constexpr std::size_t kMostTogether = 9;  ///< lines of a plot
};

}  // namespace

namespace analysis {
void register_batch_scaling(Registry<AnalysisEntry>& registry) {
  registry.add("batch_scaling", AnalysisEntry::of<BatchScalingAnalysis>(
                                    "throughput over batch sizes, relative to the smallest"));
}
}  // namespace analysis
}  // namespace d5
