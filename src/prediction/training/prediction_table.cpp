// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "d5/core/results.hpp"
#include "d5/prediction/scaling_prediction.hpp"

namespace d5 {
namespace {

double measured(const PredictedPoint& point) { return summarise(point.measured).median; }

/// "+2.1%": how far a prediction lies beside what was measured.
std::string error_of(double predicted, const PredictedPoint& point) {
  if (point.measured.empty() || std::isnan(predicted)) return "";
  return fmt::format("{:+.1f}%", 100 * (predicted / measured(point) - 1));
}

std::string with_interval(double value, const Interval& interval) {
  if (!(interval.low < interval.high)) return with_prefix(value, "s");
  return fmt::format("{} [{}, {}]", with_prefix(value, "s"), with_prefix(interval.low, "s"),
                     with_prefix(interval.high, "s"));
}

std::string percent(double share) { return fmt::format("{:.1f}%", 100 * share); }

}  // namespace

TextTable prediction_table(const std::vector<PredictedPoint>& points) {
  using enum TextTable::Align;
  TextTable table({{"ranks", right},
                   {"batch", right},
                   {"predicted step", right},
                   {"measured", right},
                   {"error", right},
                   {"by formula", right},
                   {"its error", right},
                   {"samples/s", right},
                   {"efficiency", right},
                   {"alpha", right},
                   {"computing", right},
                   {"exposed", right},
                   {"sent a step", right},
                   "twice as good helps most",
                   "status"});
  for (const PredictedPoint& point : points) {
    const std::string helps =
        point.gain > 0 ? fmt::format("{}: -{}", point.bound_by, percent(point.gain / point.step))
                       : point.bound_by;
    table.add({std::to_string(point.ranks), std::to_string(point.batch),
               with_interval(point.step, point.step_interval),
               point.measured.empty()
                   ? ""
                   : with_interval(measured(point), summarise(point.measured).median_interval),
               error_of(point.step, point),
               std::isnan(point.baseline) ? "" : with_prefix(point.baseline, "s"),
               error_of(point.baseline, point), fmt::format("{:.4g}", point.throughput),
               percent(point.efficiency), fmt::format("{:.3f}", point.alpha),
               with_prefix(point.computed, "s"), with_prefix(point.exposed, "s"),
               with_prefix(static_cast<double>(point.bytes), "byte"), helps,
               point.mistrusted.empty() ? "" : "mistrusted"});
  }
  table.drop_empty_columns();
  return table;
}

Plot prediction_plot(const std::vector<PredictedPoint>& points, const std::string& title) {
  using Shape = PlotMark::Shape;
  Plot plot{.name = "prediction",
            .title = title,
            .note = "Samples a second of all ranks. Bars: the profile's steps, resampled.",
            .x = {.label = "ranks", .scale = PlotAxis::Scale::logarithmic},
            .y = {.label = "samples a second", .scale = PlotAxis::Scale::logarithmic},
            .series = {"perfect", "predicted", "by formula", "measured"}};
  PlotMark perfect{.shape = Shape::faint_line, .series = 0};
  PlotMark line{.shape = Shape::line, .series = 1}, dots{.shape = Shape::dots, .series = 1};
  PlotMark bars{.shape = Shape::interval, .series = 1};
  PlotMark baseline{.shape = Shape::line, .series = 2};
  PlotMark real{.shape = Shape::dots, .series = 3}, spread{.shape = Shape::interval, .series = 3};
  for (const PredictedPoint& point : points) {
    const double ranks = point.ranks, samples = static_cast<double>(point.batch) * ranks;
    perfect.points.push_back({ranks, points.front().throughput * ranks / points.front().ranks});
    line.points.push_back({ranks, point.throughput});
    bars.points.push_back({ranks, samples / point.step_interval.high});
    bars.points.push_back({ranks, samples / point.step_interval.low});
    baseline.points.push_back({ranks, samples / point.baseline});
    if (point.measured.empty()) continue;
    real.points.push_back({ranks, samples / measured(point)});
    const Interval seen = summarise(point.measured).median_interval;
    spread.points.push_back({ranks, samples / seen.high});
    spread.points.push_back({ranks, samples / seen.low});
  }
  dots.points = line.points;
  plot.marks = {perfect, baseline, line, bars, dots};
  if (real.points.empty()) {
    plot.series.pop_back();
  } else {
    plot.marks.insert(plot.marks.end(), {spread, real});
  }
  return plot;
}

std::vector<Measurement> prediction_records(const std::vector<PredictedPoint>& points,
                                            const TrainingProfile& profile,
                                            const NetworkDescription& network) {
  std::vector<Measurement> records;
  for (const PredictedPoint& point : points) {
    const auto add = [&](const char* metric, const char* unit, std::vector<double> samples,
                         Statistic::Of of) {
      Measurement record{.subject = profile.model,
                         .level = "prediction",
                         .framework = profile.framework,
                         .device = profile.device,
                         .metric = metric,
                         .unit = unit,
                         .statistic = {.of = of},
                         .samples = std::move(samples)};
      record.conditions = {{"ranks", std::to_string(point.ranks)},
                           {"batch", std::to_string(point.batch)},
                           {"network", network.name}};
      if (!point.mistrusted.empty()) mistrust(record, point.mistrusted);
      records.push_back(std::move(record));
    };
    using enum Statistic::Of;
    add("predicted_time", "s", {point.step}, single);
    if (!std::isnan(point.baseline)) add("baseline_time", "s", {point.baseline}, single);
    if (point.measured.empty()) continue;
    add("time", "s", point.measured, quantile);
    add("prediction_error", "1", {point.step / measured(point) - 1}, single);
  }
  return records;
}

}  // namespace d5
