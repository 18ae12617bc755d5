// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/results/scaled_unit.hpp"
#include "d5/evaluation/analysis/evaluation_cell.hpp"
#include "evaluation/analysis/cell_plot.hpp"

namespace d5 {
namespace {

struct HeatRow {
  std::string name;
  std::map<double, double> values;  ///< by batch
};
using HeatRows = std::vector<HeatRow>;
using CellValue = std::optional<Estimate> (*)(const EvaluationCell&);

/// A row for each description of a cell without its batch, in order.
HeatRows rows_of(const std::vector<EvaluationCell>& cells, CellValue value_of) {
  std::vector<EvaluationCell> without_batch = cells;
  for (auto& cell : without_batch) cell.batch.clear();
  const auto names = names_of(without_batch);
  HeatRows rows;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const double batch = condition_number(*cells[i].records.front(), "batch").value_or(0);
    const auto value = value_of(cells[i]);
    if (batch <= 0 || !value || !std::isfinite(value->value)) continue;
    auto place = std::ranges::find(rows, names[i], &HeatRow::name);
    if (place == rows.end()) place = rows.insert(place, {names[i], {}});
    place->values.try_emplace(batch, value->value);
  }
  return rows;
}

std::set<double> batches_of(const HeatRows& rows) {
  std::set<double> batches;
  for (const HeatRow& row : rows) {
    for (const auto& [batch, value] : row.values) batches.insert(batch);
  }
  return batches;
}

void draw(const HeatRows& all, Plot plot, const std::string& unit, std::vector<Plot>& plots) {
  constexpr std::size_t kMostRows = 40;
  const auto batches = batches_of(all);
  for (const double batch : batches) plot.x.names.push_back(fmt::format("{}", batch));
  double least = HUGE_VAL;
  for (const HeatRow& row : all) {
    for (const auto& [batch, value] : row.values) least = std::min(least, value);
  }
  const auto scaled = detail::scaled_unit(least, unit);
  plot.title += fmt::format(" ({})", scaled.name);
  plot.note = "The stronger the colour, the nearer to the largest number of the row.";
  if (all.size() > kMostRows) {
    plot.note += fmt::format(" The first {} rows of {}; the table has all.", kMostRows, all.size());
  }
  for (const HeatRow& row : all) {
    if (plot.rows.size() == kMostRows) break;
    const double y = double(plot.rows.size());
    plot.rows.push_back({.label = row.name});
    double most = 0;
    for (const auto& [batch, value] : row.values) most = std::max(most, value);
    for (const auto& [batch, value] : row.values) {
      const auto column = double(std::distance(batches.begin(), batches.find(batch)));
      plot.marks.push_back(
          {.shape = PlotMark::Shape::box,
           .points = {{column - 0.48, y + 0.03}, {column + 0.48, y + 0.97}},
           .tip = fmt::format("{}, batch {}: {}", row.name, batch, with_prefix(value, unit)),
           .weight = most > 0 ? 0.5 * value / most : 0});
      plot.marks.push_back({.shape = PlotMark::Shape::text,
                            .points = {{column, y + 0.5}},
                            .label = detail::with_digits(value / scaled.divisor, 3)});
    }
  }
  plots.push_back(std::move(plot));
}

/// Throughput and latency over models and batch sizes, as in Li et al., "The Design and
/// Implementation of a Scalable DL Benchmarking Platform" (CLOUD 2020).
class HeatMapAnalysis final : public Analysis {
 public:
  [[nodiscard]] AnalysisResult analyse(std::span<const AnalysedRun> runs) const override {
    using enum TextTable::Align;
    const auto cells = evaluation_cells(runs);
    const HeatRows rates =
        rows_of(cells, [](const EvaluationCell& cell) { return cell.throughput(); });
    const HeatRows latencies =
        rows_of(cells, [](const EvaluationCell& cell) { return cell.latency(0.5); });
    auto batches = batches_of(rates);
    batches.merge(batches_of(latencies));
    std::vector<TextTable::Column> columns = {"what", "number"};
    for (const double batch : batches) columns.emplace_back(fmt::format("batch {}", batch), right);
    AnalysisResult result{.table = TextTable(std::move(columns))};
    if (batches.size() < 2) return result;
    const auto tabulate = [&](const HeatRows& rows, const char* number, const char* unit) {
      for (const auto& [name, values] : rows) {
        std::vector<std::string> row = {name, number};
        for (const double batch : batches) {
          const auto place = values.find(batch);
          row.push_back(place == values.end() ? "" : with_prefix(place->second, unit));
        }
        result.table.add(std::move(row));
      }
    };
    tabulate(rates, "throughput", "sample/s");
    tabulate(latencies, "p50", "s");
    if (!rates.empty()) {
      draw(rates,
           {.name = "evaluation-throughput-heat-map",
            .title = "Throughput by batch",
            .x = {.label = "batch"}},
           "sample/s", result.plots);
    }
    if (!latencies.empty()) {
      draw(latencies,
           {.name = "evaluation-latency-heat-map",
            .title = "Median latency by batch",
            .x = {.label = "batch"}},
           "s", result.plots);
    }
    return result;
  }
};

}  // namespace

namespace analysis {
void register_heat_map(Registry<AnalysisEntry>& registry) {
  registry.add("heat_map", AnalysisEntry::of<HeatMapAnalysis>(
                               "throughput and latency over models and batch sizes"));
}
}  // namespace analysis
}  // namespace d5
