// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "d5/evaluation/analysis/evaluation_cell.hpp"
#include "evaluation/analysis/cell_plot.hpp"

namespace d5 {
namespace {

/// A cell with an accuracy and a cost.
struct Point {
  std::string name;
  double accuracy, seconds, rate;
  Status status;
};

/// The best numbers of a model in a framework.
struct BestPoint {
  std::string name, label, framework;
  double accuracy, seconds, rate, bytes;
  bool passed;
};

/// Whether the point passed, and no other point that passed is at least as good in all three
/// numbers and better in one (Pareto front).
bool is_on_front(const Point& point, const std::vector<Point>& all) {
  if (point.status != Status::passed) return false;
  return std::ranges::none_of(all, [&](const Point& other) {
    if (other.status != Status::passed) return false;
    const bool as_good = other.accuracy >= point.accuracy && other.seconds <= point.seconds &&
                         other.rate >= point.rate;
    const bool better =
        other.accuracy > point.accuracy || other.seconds < point.seconds || other.rate > point.rate;
    return as_good && better;
  });
}

/// Accuracy against latency and throughput, as in Li et al., "The Design and Implementation of a
/// Scalable DL Benchmarking Platform" (CLOUD 2020), which this part of d5 follows.
class TradeOffAnalysis final : public Analysis {
 public:
  [[nodiscard]] AnalysisResult analyse(std::span<const AnalysedRun> runs) const override {
    using enum TextTable::Align;
    const auto cells = evaluation_cells(runs);
    const auto names = names_of(cells);
    AnalysisResult result{.table = TextTable({"what",
                                              {"accuracy", right},
                                              {"p99", right},
                                              {"throughput", right},
                                              "front",
                                              "status"})};
    std::vector<Point> points;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const auto latency = cells[i].latency(0.99), rate = cells[i].throughput();
      if (!cells[i].accuracy || cells[i].accuracy->samples.empty() || !latency || !rate) continue;
      points.push_back({names[i], estimate(*cells[i].accuracy).value, latency->value, rate->value,
                        cells[i].status()});
    }
    for (const Point& point : points) {
      result.table.add({point.name, with_prefix(point.accuracy, "1"),
                        with_prefix(point.seconds, "s"), with_prefix(point.rate, "sample/s"),
                        is_on_front(point, points) ? "yes" : "",
                        std::string(name_of(point.status))});
    }
    const auto best = best_points(cells);
    const bool varied = std::ranges::any_of(
        best, [&](const BestPoint& point) { return point.accuracy != best.front().accuracy; });
    if (!varied) return result;  // the accuracy of one model says nothing about another
    result.plots = {
        plot_of(
            best, "evaluation-accuracy-latency", "Accuracy over latency",
            {.label = "lowest p99 of latency", .unit = "s", .scale = PlotAxis::Scale::logarithmic},
            &BestPoint::seconds),
        plot_of(best, "evaluation-accuracy-throughput", "Accuracy over throughput",
                {.label = "highest throughput",
                 .unit = "sample/s",
                 .scale = PlotAxis::Scale::logarithmic},
                &BestPoint::rate)};
    return result;
  }

 private:
  /// One point per model and framework: its lowest latency and its highest throughput, of cells
  /// that passed if any did.
  static std::vector<BestPoint> best_points(const std::vector<EvaluationCell>& cells) {
    std::vector<EvaluationCell> models = cells;
    for (EvaluationCell& cell : models) {
      for (std::string* part : {&cell.scenario, &cell.batch, &cell.threads, &cell.trace_level}) {
        part->clear();
      }
    }
    const auto names = names_of(models);
    // The legend names frameworks, if there are several; labels name the rest.
    for (EvaluationCell& cell : models) cell.framework.clear();
    const auto labels = names_of(models);
    std::vector<BestPoint> points;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const EvaluationCell& cell = cells[i];
      const auto latency = cell.latency(0.99), rate = cell.throughput();
      if (!cell.accuracy || cell.accuracy->samples.empty() || !latency || !rate) continue;
      const bool passed = cell.status() == Status::passed;
      const double bytes = condition_number(*cell.records.front(), "model bytes").value_or(0);
      auto place = std::ranges::find(points, names[i], &BestPoint::name);
      if (place == points.end()) {
        const std::string& label = labels[i].empty() ? cell.framework : labels[i];
        points.push_back({names[i], label, cell.framework, estimate(*cell.accuracy).value,
                          latency->value, rate->value, bytes, passed});
        continue;
      }
      if (place->passed && !passed) continue;
      const bool replaces = passed && !place->passed;
      place->seconds = replaces ? latency->value : std::min(place->seconds, latency->value);
      place->rate = replaces ? rate->value : std::max(place->rate, rate->value);
      place->passed = passed;
    }
    return points;
  }

  static Plot plot_of(const std::vector<BestPoint>& points, const char* name, const char* title,
                      PlotAxis axis, double BestPoint::* x) {
    Plot plot{
        .name = name,
        .title = title,
        .note = "One point for each model and framework, the best over scenarios and batches.",
        .x = std::move(axis),
        .y = {.label = "accuracy", .unit = "1"}};
    const double largest = std::ranges::max(points, {}, &BestPoint::bytes).bytes;
    if (largest > 0) {
      plot.note += fmt::format(" Areas: size of the model's files, at most {}.",
                               with_prefix(largest, "byte"));
    }
    for (const BestPoint& point : points) {
      auto series = std::ranges::find(plot.series, point.framework) - plot.series.begin();
      if (std::size_t(series) == plot.series.size()) plot.series.push_back(point.framework);
      plot.marks.push_back(
          {.shape = point.bytes > 0 ? PlotMark::Shape::disc : PlotMark::Shape::dots,
           .series = std::size_t(series),
           .points = {{point.*x, point.accuracy}},
           .label = point.label,
           .tip = fmt::format("{}: accuracy {}, {}{}", point.name, with_prefix(point.accuracy, "1"),
                              with_prefix(point.*x, plot.x.unit),
                              point.bytes > 0 ? ", " + with_prefix(point.bytes, "byte") : ""),
           .weight = largest > 0 ? point.bytes / largest : 1});
    }
    if (plot.series.size() == 1) plot.series.front().clear();
    return plot;
  }
};

}  // namespace

namespace analysis {
void register_trade_off(Registry<AnalysisEntry>& registry) {
  registry.add("trade_off", AnalysisEntry::of<TradeOffAnalysis>(
                                "accuracy against latency and throughput, with the Pareto front"));
}
}  // namespace analysis
}  // namespace d5
