// SPDX-License-Identifier: Apache-2.0
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
    if (points.empty()) return result;
    result.plots = {
        plot_of(points, "evaluation-accuracy-latency", "Accuracy against latency",
                {.label = "latency p99", .unit = "s", .scale = PlotAxis::Scale::logarithmic},
                &Point::seconds),
        plot_of(points, "evaluation-accuracy-throughput", "Accuracy against throughput",
                {.label = "throughput", .unit = "sample/s", .scale = PlotAxis::Scale::logarithmic},
                &Point::rate)};
    return result;
  }

 private:
  static Plot plot_of(const std::vector<Point>& points, const char* name, const char* title,
                      PlotAxis axis, double Point::* x) {
    Plot plot{.name = name,
              .title = title,
              .x = std::move(axis),
              .y = {.label = "accuracy", .unit = "1"},
              .series = {""}};
    for (const Point& point : points) {
      plot.marks.push_back({.shape = PlotMark::Shape::dots,
                            .points = {{point.*x, point.accuracy}},
                            .label = point.name});
    }
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
