// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "core/results/result_notes.hpp"
#include "d5/core/results/results.hpp"
#include "d5/core/statistics/student.hpp"
#include "d5/level3_distributed/launching/scaling_study.hpp"
#include "level3_distributed/launching/scaling_records.hpp"

namespace d5 {
namespace {

using detail::find;
using detail::ranks_of;

/// The label common to the points of one line.
std::string line_of(const Measurement& record) {
  return condition_of(record, "distributed") + ", " + condition_of(record, "scaling");
}

/// "8.23 ksample/s ± 2.1%": the mean over runs, and half its interval.
std::string cell(const Measurement* record) {
  if (!record) return "";
  const Estimate mean = mean_with_interval(record->samples);
  const double half = (mean.interval.high - mean.interval.low) / 2 / mean.value;
  const std::string sure = std::isfinite(half) ? fmt::format(" ± {:.2g}%", 100 * half) : "";
  return with_prefix(mean.value, record->unit) + sure;
}

/// Bytes sent and received by a rank per step: the mean over ranks.
std::string bytes_a_step(const std::vector<Measurement>& of_point) {
  double sum = 0;
  int records = 0;
  for (const Measurement& record : of_point) {
    if (record.metric != "communication_volume" || record.samples.empty()) continue;
    const auto steps = condition_number(record, "steps");
    if (!steps || *steps == 0) continue;
    sum += estimate(record).value / *steps;
    ++records;
  }
  return records == 0 ? "" : with_prefix(sum / records, "byte");
}

std::vector<std::vector<Measurement>> by_point(const std::vector<Measurement>& records) {
  std::vector<std::vector<Measurement>> points;
  std::map<std::string, std::size_t> places;
  for (const Measurement& record : records) {
    const std::string key = line_of(record) + condition_of(record, "ranks");
    const auto [place, fresh] = places.try_emplace(key, points.size());
    if (fresh) points.emplace_back();
    points[place->second].push_back(record);
  }
  return points;
}

using StatusOf = std::function<std::string(const Measurement&)>;

TextTable summary_of(const std::vector<Measurement>& records, const StatusOf& status_of) {
  using enum TextTable::Align;
  TextTable table({{"ranks", right},
                   "scheme",
                   "scaling",
                   {"throughput", right},
                   {"efficiency", right},
                   {"bytes/step", right},
                   {"time to accuracy", right},
                   {"test accuracy", right},
                   "status"});
  for (const auto& of_point : by_point(records)) {
    const Measurement& one = of_point.front();
    const Measurement* throughput = find(of_point, "throughput");
    const Measurement& worst = throughput ? *throughput : one;
    table.add({condition_of(one, "ranks"), condition_of(one, "distributed"),
               condition_of(one, "scaling"), cell(throughput), cell(find(of_point, "efficiency")),
               bytes_a_step(of_point), cell(find(of_point, "time_to_accuracy")),
               cell(find(of_point, "test_accuracy")), status_of(worst)});
  }
  table.drop_empty_columns();
  return table;
}

}  // namespace

TextTable scaling_summary(const std::vector<Measurement>& records) {
  return summary_of(records,
                    [](const Measurement& one) { return std::string(name_of(one.status)); });
}

std::string scaling_text(const std::vector<Measurement>& records, Format format, int width) {
  if (!is_for_people(format)) return scaling_summary(records).to_text(format, width);
  detail::ResultNotes notes;
  const TextTable table =
      summary_of(records, [&](const Measurement& one) { return notes.status_of(one); });
  return table.to_text(format, width) + notes.below_table(format, width);
}

Plot scaling_plot(const std::vector<Measurement>& records) {
  std::vector<const Measurement*> throughputs;
  for (const Measurement& record : records) {
    if (record.metric == "throughput" && !record.samples.empty()) throughputs.push_back(&record);
  }
  Plot plot{.name = "scaling",
            .title = "Throughput over ranks",
            .note =
                "Means over runs; bars: slowest to fastest run. Faint: perfect scaling from the "
                "fewest ranks.",
            .x = {.label = "ranks", .scale = PlotAxis::Scale::whole},
            .y = {.label = "samples/s"}};
  if (throughputs.empty()) return plot;
  plot.title += ": " + throughputs.front()->subject;
  std::ranges::stable_sort(throughputs, {}, [](const auto* record) { return ranks_of(*record); });
  const auto point_of = [](const Measurement& record) {
    return PlotPoint{double(ranks_of(record)), mean_with_interval(record.samples).value};
  };
  const PlotPoint fewest = point_of(*throughputs.front());
  const double most = ranks_of(*throughputs.back());
  std::map<std::string, std::vector<const Measurement*>> lines;
  for (const auto* record : throughputs) {
    if (ranks_of(*record) > 1) lines[line_of(*record)].push_back(record);
  }
  plot.series.emplace_back("perfect");
  plot.marks.push_back({.shape = PlotMark::Shape::faint_line,
                        .points = {fewest, {most, fewest.y * most / fewest.x}}});
  for (auto& [name, line] : lines) {
    if (ranks_of(*throughputs.front()) == 1) line.insert(line.begin(), throughputs.front());
    PlotMark through{.shape = PlotMark::Shape::line, .series = plot.series.size()};
    PlotMark dots{.shape = PlotMark::Shape::dots, .series = plot.series.size()};
    PlotMark intervals{.shape = PlotMark::Shape::interval, .series = plot.series.size()};
    for (const auto* record : line) {
      const PlotPoint place = point_of(*record);
      through.points.push_back(place);
      dots.points.push_back(place);
      const auto [least, most_of] = std::ranges::minmax(record->samples);
      intervals.points.push_back({place.x, least});
      intervals.points.push_back({place.x, most_of});
    }
    plot.series.push_back(name);
    plot.marks.insert(plot.marks.end(), {through, intervals, dots});
  }
  return plot;
}

}  // namespace d5
