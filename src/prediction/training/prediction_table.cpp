// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "core/results/result_notes.hpp"
#include "d5/core/results/results.hpp"
#include "d5/core/tables/wrapped_text.hpp"
#include "d5/prediction/training/predicted_curve.hpp"

namespace d5 {
namespace {

double measured(const PredictedPoint& point) { return summarise(point.measured).median; }

/// Relative error of a prediction: "+2.1%".
std::string error_of(double predicted, const PredictedPoint& point) {
  if (point.measured.empty() || std::isnan(predicted)) return "";
  return fmt::format("{:+.1f}%", 100 * (predicted / measured(point) - 1));
}

std::string with_interval(double value, const Interval& interval) {
  if (!(interval.low < interval.high)) return with_prefix(value, "s");
  return fmt::format("{} [{}, {}]", with_prefix(value, "s"), with_prefix(interval.low, "s"),
                     with_prefix(interval.high, "s"));
}

std::string percent(double share) {
  return std::isnan(share) ? "" : fmt::format("{:.1f}%", 100 * share);
}

/// A label that is empty unless curves differ in it.
class Distinction {
 public:
  Distinction(const std::vector<PredictedCurve>& curves, std::string PredictedCurve::* member)
      : member_(member) {
    std::set<std::string> words;
    for (const PredictedCurve& curve : curves) words.insert(curve.*member);
    differs_ = words.size() > 1;
  }
  [[nodiscard]] std::string of(const PredictedCurve& curve) const {
    return differs_ ? printable(curve.*member_) : "";
  }

 private:
  std::string PredictedCurve::* member_;
  bool differs_ = false;
};

/// The name of a curve in the legend.
std::string name_of(const PredictedCurve& curve, const std::vector<PredictedCurve>& all) {
  std::string name;
  for (auto member :
       {&PredictedCurve::model, &PredictedCurve::cluster, &PredictedCurve::strategy}) {
    const std::string word = Distinction(all, member).of(curve);
    if (!word.empty()) name += (name.empty() ? "" : ", ") + word;
  }
  return name;
}

/// Reasons to mistrust the row.
std::string reasons_of(const PredictedPoint& point) {
  if (!point.contended || point.contended->mistrusted.empty()) return point.mistrusted;
  return fmt::format("{}{}with the map: {}", point.mistrusted, point.mistrusted.empty() ? "" : "; ",
                     point.contended->mistrusted);
}

using StatusOf = std::function<std::string(const PredictedPoint&)>;

TextTable table_of(const std::vector<PredictedCurve>& curves, const StatusOf& status_of) {
  using enum TextTable::Align;
  TextTable table({"model",
                   "cluster",
                   "strategy",
                   {"ranks", right},
                   {"batch", right},
                   {"predicted step", right},
                   {"measured", right},
                   {"error", right},
                   {"by formula", right},
                   {"its error", right},
                   {"with map", right},
                   {"map's error", right},
                   {"samples/s", right},
                   {"efficiency", right},
                   {"alpha", right},
                   {"computing", right},
                   {"exposed", right},
                   {"sent/step", right},
                   "bottleneck",
                   "status"});
  const Distinction model(curves, &PredictedCurve::model);
  for (const PredictedCurve& curve : curves) {
    for (const PredictedPoint& point : curve.points) {
      const std::string helps =
          point.gain > 0 ? fmt::format("{}: -{}", point.bound_by, percent(point.gain / point.step))
                         : point.bound_by;
      table.add({model.of(curve),
                 printable(curve.cluster),
                 printable(curve.strategy),
                 std::to_string(point.ranks),
                 std::to_string(point.batch),
                 with_interval(point.step, point.step_interval),
                 point.measured.empty()
                     ? ""
                     : with_interval(measured(point), summarise(point.measured).median_interval),
                 error_of(point.step, point),
                 std::isnan(point.baseline) ? "" : with_prefix(point.baseline, "s"),
                 error_of(point.baseline, point),
                 point.contended ? with_prefix(point.contended->step, "s") : "",
                 point.contended ? error_of(point.contended->step, point) : "",
                 fmt::format("{:.4g}", point.throughput),
                 percent(point.efficiency),
                 std::isnan(point.alpha) ? "" : fmt::format("{:.3f}", point.alpha),
                 with_prefix(point.computed, "s"),
                 with_prefix(point.exposed, "s"),
                 with_prefix(static_cast<double>(point.bytes), "byte"),
                 helps,
                 reasons_of(point).empty() ? "" : status_of(point)});
    }
  }
  table.drop_empty_columns();
  return table;
}

}  // namespace

TextTable prediction_table(const std::vector<PredictedCurve>& curves) {
  return table_of(curves, [](const PredictedPoint&) { return "mistrusted"; });
}

std::string prediction_text(const std::vector<PredictedCurve>& curves, Format format, int width) {
  if (!is_for_people(format)) return prediction_table(curves).to_text(format, width);
  detail::ResultNotes notes;
  const TextTable table = table_of(curves, [&](const PredictedPoint& point) {
    return notes.status_of({.status = Status::mistrusted, .reason = reasons_of(point)});
  });
  std::string text = table.to_text(format, width) + notes.below_table(format, width);
  for (const PredictedCurve& curve : curves) {
    if (curve.left_out.empty()) continue;
    text += '\n' + wrapped(fmt::format("left out: {}", curve.left_out), width);
  }
  return text;
}

Plot prediction_plot(const std::vector<PredictedCurve>& curves) {
  using Shape = PlotMark::Shape;
  Plot plot{.name = "prediction",
            .title = curves.empty() ? "" : curves.front().model,
            .note = "Samples per second over all ranks. Bars: intervals; predictions by bootstrap.",
            .x = {.label = "ranks", .scale = PlotAxis::Scale::logarithmic},
            .y = {.label = "samples/s", .scale = PlotAxis::Scale::logarithmic}};
  if (curves.size() == 1) plot.title += " on " + curves.front().cluster;
  const auto series = [&](const std::string& what, const PredictedCurve& curve) {
    const std::string name = name_of(curve, curves);
    plot.series.push_back(name.empty() ? what : what + ", " + name);
    return plot.series.size() - 1;
  };
  const auto add = [&](Shape shape, std::size_t of, std::vector<PlotPoint> points) {
    plot.marks.push_back({.shape = shape, .series = of, .points = std::move(points)});
  };
  plot.series.emplace_back("perfect");
  for (const PredictedCurve& curve : curves) {
    std::vector<PlotPoint> perfect, line, band, formula, real, spread;
    for (const PredictedPoint& point : curve.points) {
      const double ranks = point.ranks, samples = static_cast<double>(point.batch) * ranks;
      const PredictedPoint& base = curves.front().points.front();
      perfect.push_back({ranks, base.throughput * ranks / base.ranks});
      line.push_back({ranks, point.throughput});
      band.push_back({ranks, samples / point.step_interval.high});
      band.push_back({ranks, samples / point.step_interval.low});
      if (!std::isnan(point.baseline)) formula.push_back({ranks, samples / point.baseline});
      if (point.measured.empty()) continue;
      real.push_back({ranks, samples / measured(point)});
      const Interval seen = summarise(point.measured).median_interval;
      spread.push_back({ranks, samples / seen.high});
      spread.push_back({ranks, samples / seen.low});
    }
    if (&curve == &curves.front()) add(Shape::faint_line, 0, perfect);
    const std::size_t predicted = series("predicted", curve);
    add(Shape::line, predicted, line);
    add(Shape::interval, predicted, band);
    add(Shape::dots, predicted, line);
    // A baseline only for a single curve; several would clutter the plot.
    if (curves.size() == 1) add(Shape::line, series("by formula", curve), formula);
    if (real.empty()) continue;
    const std::size_t seen = series("measured", curve);
    add(Shape::interval, seen, spread);
    add(Shape::dots, seen, real);
  }
  return plot;
}

std::vector<Measurement> prediction_records(const std::vector<PredictedCurve>& curves) {
  std::vector<Measurement> records;
  for (const PredictedCurve& curve : curves) {
    for (const PredictedPoint& point : curve.points) {
      const auto add = [&](const char* metric, const char* unit, std::vector<double> samples,
                           Statistic::Of of) {
        Measurement record{.subject = curve.model,
                           .level = "prediction",
                           .framework = curve.framework,
                           .device = curve.device,
                           .metric = metric,
                           .unit = unit,
                           .statistic = {.of = of},
                           .samples = std::move(samples)};
        record.conditions = {{"ranks", identity(point.ranks)},
                             {"batch", identity(point.batch)},
                             {"network", identity(curve.cluster)}};
        if (!curve.strategy.empty()) record.conditions["strategy"] = identity(curve.strategy);
        if (!point.mistrusted.empty()) mistrust(record, point.mistrusted);
        records.push_back(std::move(record));
      };
      using enum Statistic::Of;
      add("predicted_time", "s", {point.step}, single);
      auto& conditions = records.back().conditions;
      conditions["low"] = finding(point.step_interval.low, "s");
      conditions["high"] = finding(point.step_interval.high, "s");
      if (!std::isnan(point.alpha)) conditions["alpha"] = finding(point.alpha);
      if (!std::isnan(point.efficiency)) conditions["efficiency"] = finding(point.efficiency);
      conditions["bound_by"] = finding(point.bound_by);
      if (!std::isnan(point.baseline)) add("baseline_time", "s", {point.baseline}, single);
      if (point.contended) {
        add("contended_time", "s", {point.contended->step}, single);
        records.back().conditions["map_lacks"] = finding(point.contended->lacking);
        if (!point.contended->mistrusted.empty()) {
          mistrust(records.back(), "with the map: " + point.contended->mistrusted);
        }
      }
      if (point.measured.empty()) continue;
      add("time", "s", point.measured, quantile);
      add("prediction_error", "1", {point.step / measured(point) - 1}, single);
      if (point.contended) {
        add("contended_error", "1", {point.contended->step / measured(point) - 1}, single);
      }
      if (std::isnan(point.baseline)) continue;
      add("baseline_error", "1", {point.baseline / measured(point) - 1}, single);
    }
  }
  return records;
}

}  // namespace d5
