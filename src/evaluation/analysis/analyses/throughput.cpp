// SPDX-License-Identifier: Apache-2.0
#include "d5/evaluation/analysis/evaluation_cell.hpp"
#include "evaluation/analysis/cell_plot.hpp"

namespace d5 {
namespace {

class ThroughputAnalysis final : public Analysis {
 public:
  [[nodiscard]] AnalysisResult analyse(std::span<const AnalysedRun> runs) const override {
    using enum TextTable::Align;
    const auto cells = evaluation_cells(runs);
    const auto names = names_of(cells);
    AnalysisResult result{
        .table = TextTable({"what", {"throughput", right}, {"95% interval", right}, "status"})};
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const auto rate = cells[i].throughput();
      if (!rate) continue;
      result.table.add({names[i], detail::value_text(rate, "sample/s"),
                        detail::interval_text(rate, "sample/s"),
                        std::string(name_of(cells[i].status()))});
    }
    detail::draw_cells(
        {.name = "evaluation-throughput",
         .title = "Throughput",
         .x = {.label = "throughput", .unit = "sample/s"}},
        {"throughput"}, cells,
        [](const EvaluationCell& cell) { return std::vector{cell.throughput()}; }, result.plots);
    return result;
  }
};

}  // namespace

namespace analysis {
void register_throughput(Registry<AnalysisEntry>& registry) {
  registry.add("throughput",
               AnalysisEntry::of<ThroughputAnalysis>("throughput of each cell, in samples/s"));
}
}  // namespace analysis
}  // namespace d5
