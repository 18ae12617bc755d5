// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "d5/level2_training/validation/training_comparison.hpp"

namespace d5 {
namespace {

const std::vector<double>* samples_of(const std::vector<Measurement>& records,
                                      std::string_view metric) {
  const auto place = std::ranges::find(records, metric, &Measurement::metric);
  return place == records.end() || place->samples.empty() ? nullptr : &place->samples;
}

/// One line for each run for which `points` returns any.
template <class Points>
void draw_runs(Plot& plot, const std::vector<ComparedTraining>& trainings, const Points& points) {
  for (std::size_t series = 0; series < trainings.size(); ++series) {
    const auto& [name, runs] = trainings[series];
    plot.series.push_back(name);
    for (std::size_t run = 0; run < runs.records.size(); ++run) {
      PlotMark line{.shape = PlotMark::Shape::line,
                    .series = series,
                    .points = points(runs.records[run]),
                    .tip = fmt::format("{}, seed {}", name, runs.seeds[run])};
      if (!line.points.empty()) plot.marks.push_back(std::move(line));
    }
  }
}

/// Means over stretches, because losses of single batches hide the trend.
std::vector<PlotPoint> smoothed(const std::vector<PlotPoint>& points) {
  constexpr std::size_t kMost = 60;
  const std::size_t length = (points.size() + kMost - 1) / kMost;
  std::vector<PlotPoint> result;
  for (std::size_t begin = 0; begin + length <= points.size() && length > 0; begin += length) {
    PlotPoint mean;
    for (std::size_t i = begin; i < begin + length; ++i) {
      mean.x += points[i].x / double(length);
      mean.y += points[i].y / double(length);
    }
    result.push_back(mean);
  }
  return result;
}

std::vector<PlotPoint> loss_over_time(const std::vector<Measurement>& records) {
  const auto* losses = samples_of(records, "loss");
  const auto* steps = samples_of(records, "batch_time");
  const auto* waits = samples_of(records, "dataset_latency");
  if (!losses || !steps) return {};
  std::vector<PlotPoint> points;
  double seconds = 0;
  for (std::size_t i = 0; i < std::min(losses->size(), steps->size()); ++i) {
    seconds += (*steps)[i] + (waits && i < waits->size() ? (*waits)[i] : 0);
    points.push_back({seconds, (*losses)[i]});
  }
  return smoothed(points);
}

}  // namespace

Plot accuracy_plot(const std::vector<ComparedTraining>& trainings) {
  Plot plot{.name = "accuracy-over-epochs",
            .title = "Test accuracy",
            .note = "One line per run.",
            .x = {.label = "test run", .scale = PlotAxis::Scale::whole},
            .y = {.label = "share of correctly classified test samples"}};
  draw_runs(plot, trainings, [](const std::vector<Measurement>& records) {
    std::vector<PlotPoint> points;
    if (const auto* accuracies = samples_of(records, "test_accuracy")) {
      for (const double one : *accuracies) points.push_back({double(points.size() + 1), one});
    }
    return points;
  });
  return plot;
}

Plot loss_plot(const std::vector<ComparedTraining>& trainings) {
  Plot plot{.name = "loss-over-time",
            .title = "Training loss",
            .note = "One line per run; means over consecutive batches.",
            .x = {.label = "time of steps and of waiting for data", .unit = "s"},
            .y = {.label = "loss"}};
  draw_runs(plot, trainings, loss_over_time);
  return plot;
}

}  // namespace d5
