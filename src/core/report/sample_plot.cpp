// SPDX-License-Identifier: Apache-2.0
// Histogram of each record's samples, with the statistic and its interval below.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/report/figures.hpp"

namespace d5::detail {
namespace {

using MarkShape = PlotMark::Shape;

struct Range {
  double low, high;
};

Range range_of(const Figures& figures) {
  Range range{INFINITY, -INFINITY};
  for (const auto& figure : figures) {
    for (const double sample : figure.record->samples) {
      if (!std::isfinite(sample)) continue;
      range.low = std::min(range.low, sample);
      range.high = std::max(range.high, sample);
    }
  }
  return range;
}

/// Bins of equal width on the axis, for any scale, wide enough to group several samples.
class Bins {
 public:
  Bins(Range range, bool logarithmic) : logarithmic_(logarithmic) {
    constexpr double kBins = 120;
    low_ = on_axis(range.low);
    width_ = (on_axis(range.high) - low_) / kBins;
    if (!(width_ > 0)) width_ = 1;
  }
  [[nodiscard]] int of(double sample) const {
    return int(std::floor((on_axis(sample) - low_) / width_));
  }
  [[nodiscard]] double begin(int bin) const {
    const double value = low_ + bin * width_;
    return logarithmic_ ? std::exp(value) : value;
  }

 private:
  [[nodiscard]] double on_axis(double value) const {
    return logarithmic_ ? std::log(value) : value;
  }
  bool logarithmic_;
  double low_, width_;
};

/// Drawn from 30% above the lane's bottom; the highest bin reaches the top.
PlotMark histogram(const Figure& figure, const RowPlaces::Place& place, const Bins& bins,
                   bool logarithmic) {
  std::map<int, int> counts;
  int fullest = 1;
  for (const double sample : figure.record->samples) {
    if (!std::isfinite(sample) || (logarithmic && sample <= 0)) continue;
    fullest = std::max(fullest, ++counts[bins.of(sample)]);
  }
  PlotMark mark{.shape = MarkShape::box, .series = figure.number, .points = {}, .tip = figure.tip};
  const double bottom = place.y + 0.2 * place.lane, room = 0.68 * place.lane;
  for (const auto& [bin, count] : counts) {
    mark.points.push_back({bins.begin(bin), bottom - room * count / fullest});
    mark.points.push_back({bins.begin(bin + 1), bottom});
  }
  return mark;
}

Plot histograms(const Figures& figures, const std::string& name, const std::string& words,
                const std::string& note) {
  const Measurement& first = *figures.front().record;
  const Range range = range_of(figures);
  constexpr double kMostForLinear = 20;
  const bool logarithmic = range.low > 0 && range.high > kMostForLinear * range.low;
  Plot plot{.name = name,
            .title = title_of(first.metric) + words,
            .note = note,
            .x = {.label = words_of(first.metric), .unit = first.unit}};
  if (logarithmic) plot.x.scale = PlotAxis::Scale::logarithmic;
  const Bins bins(range, logarithmic);
  const RowPlaces places(plot, figures);
  for (auto& row : plot.rows) row.lanes *= 2;  // one lane for the histogram, one for the interval
  for (const auto& figure : figures) {
    const auto place = places(figure);
    if (!place) continue;
    plot.marks.push_back(histogram(figure, *place, bins, logarithmic));
    const double y = place->y + 0.36 * place->lane;
    const auto [low, high] = figure.estimate.interval;
    if (low < high) {
      plot.marks.push_back(
          {.shape = MarkShape::interval, .series = figure.number, .points = {{low, y}, {high, y}}});
    }
    plot.marks.push_back({.shape = MarkShape::dots,
                          .series = figure.number,
                          .points = {{figure.estimate.value, y}},
                          .tip = figure.tip});
  }
  return plot;
}

}  // namespace

Plot sample_plot(const Figures& figures) {
  return histograms(figures, "samples-" + figures.front().record->metric, ", all samples",
                    "Below each histogram: the statistic with its 95% interval.");
}

Plot run_plot(const Figures& figures) {
  std::size_t runs = 0, missing = 0;
  for (const auto& figure : figures) {
    const auto& samples = figure.record->samples;
    runs += samples.size();
    missing += std::size_t(std::ranges::count_if(samples, [](double s) { return std::isinf(s); }));
  }
  std::string note = "Below the runs: their median with its 95% interval.";
  if (missing > 0) {
    note += fmt::format(" {} of {} runs did not converge and have no place here.", missing, runs);
  }
  return histograms(figures, figures.front().record->metric + "-over-seeds",
                    ", a run from each seed", note);
}

}  // namespace d5::detail
