// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/scaling_study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <thread>

#include "d5/core/environment.hpp"
#include "d5/core/error.hpp"
#include "d5/core/result_journal.hpp"
#include "d5/core/results.hpp"
#include "d5/core/student.hpp"
#include "d5/level3_distributed/distributed_optimizer.hpp"

namespace d5 {
namespace {

template <class T>
void expect_each_once(const std::vector<T>& list, const char* what) {
  if (list.empty()) throw ValueError(fmt::format("scaling: no {} were given", what));
  if (std::set<T>(list.begin(), list.end()).size() == list.size()) return;
  throw ValueError(fmt::format("scaling: the same {} stand twice in the list", what));
}

std::string condition(const Measurement& record, std::string_view name) {
  const auto place = record.conditions.find(name);
  return place == record.conditions.end() ? "" : place->second;
}

int ranks_of(const Measurement& record) { return std::stoi(condition(record, "ranks")); }

/// What the points of one line have in common.
std::string line_of(const Measurement& record) {
  return condition(record, "distributed") + ", " + condition(record, "scaling");
}

const Measurement* find(const std::vector<Measurement>& records, const std::string& metric) {
  const auto place = std::ranges::find(records, metric, &Measurement::metric);
  return place == records.end() || place->samples.empty() ? nullptr : &*place;
}

void describe(std::vector<Measurement>& records, const ScalingPoint& point) {
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  for (Measurement& record : records) {
    record.conditions["ranks"] = std::to_string(point.ranks);
    if (point.ranks > 1) {
      record.conditions["distributed"] = point.scheme;
      record.conditions["scaling"] = point.scaling;
    }
    if (point.ranks > cores) {
      mistrust(record, fmt::format("{} ranks shared {} cores", point.ranks, cores));
    }
  }
}

/// The point with the fewest ranks that `point` is held against: one rank alone, or its own scheme.
std::size_t base_of(const std::vector<ScalingPoint>& points, std::size_t point) {
  std::size_t base = point;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const bool is_alike = points[i].ranks == 1 || (points[i].scheme == points[point].scheme &&
                                                   points[i].scaling == points[point].scaling);
    if (is_alike && points[i].ranks < points[base].ranks) base = i;
  }
  return base;
}

Measurement efficiency_of(const Measurement& mine, const Measurement& base) {
  Measurement result = mine;
  result.metric = "efficiency";
  result.unit = "1";
  result.quantity = Quantity::other;
  result.statistic = {.of = Statistic::Of::mean};
  result.samples.clear();
  const double more = double(ranks_of(mine)) / ranks_of(base);
  for (std::size_t run = 0; run < std::min(mine.samples.size(), base.samples.size()); ++run) {
    result.samples.push_back(mine.samples[run] / base.samples[run] / more);
  }
  result.conditions["base"] = condition(base, "ranks") + " ranks";
  return result;
}

/// "8.23 ksample/s ± 2.1%": the mean over runs, and half its interval.
std::string cell(const Measurement* record) {
  if (!record) return "";
  const Estimate mean = mean_with_interval(record->samples);
  const double half = (mean.interval.high - mean.interval.low) / 2 / mean.value;
  const std::string sure = std::isfinite(half) ? fmt::format(" ± {:.2g}%", 100 * half) : "";
  return with_prefix(mean.value, record->unit) + sure;
}

/// Sent and received by a rank in a step, the mean over ranks.
std::string bytes_a_step(const std::vector<Measurement>& of_point) {
  double sum = 0;
  int records = 0;
  for (const Measurement& record : of_point) {
    if (record.metric != "communication_volume" || record.samples.empty()) continue;
    const std::string steps = condition(record, "steps");
    if (steps.empty() || steps == "0") continue;
    sum += estimate(record).value / std::stod(steps);
    ++records;
  }
  return records == 0 ? "" : with_prefix(sum / records, "byte");
}

/// Every run that is done, on the disk.
class KeptRuns {
 public:
  explicit KeptRuns(const ScalingStudyOptions& options)
      : options_(options), all_{environment(), {}, PiecewiseRun{.how = options.how}} {
    using enum ResultJournal::Begin;
    if (options.out.empty()) return;
    journal_ =
        std::make_unique<ResultJournal>(options.out, options.how, options.resume ? resumed : anew);
  }

  std::vector<Measurement> records_of(const std::string& run,
                                      const std::function<std::vector<Measurement>()>& make) {
    const auto* done = journal_ ? journal_->find(run) : nullptr;
    auto records = done ? *done : make();
    if (journal_ && !done) journal_->add(run, records);
    all_.run->pieces.push_back({run, records.size()});
    all_.measurements.insert(all_.measurements.end(), records.begin(), records.end());
    return records;
  }

  void finish(const std::vector<Measurement>& joined, bool whole) {
    if (!journal_) return;
    all_.measurements.insert(all_.measurements.end(), joined.begin(), joined.end());
    using End = ResultJournal::End;
    journal_->finish(all_, whole ? End::whole : End::cut_short);
  }

 private:
  const ScalingStudyOptions& options_;
  Results all_;
  std::unique_ptr<ResultJournal> journal_;
};

std::vector<std::vector<Measurement>> by_point(const std::vector<Measurement>& records) {
  std::vector<std::vector<Measurement>> points;
  std::map<std::string, std::size_t> places;
  for (const Measurement& record : records) {
    const std::string key = line_of(record) + condition(record, "ranks");
    const auto [place, fresh] = places.try_emplace(key, points.size());
    if (fresh) points.emplace_back();
    points[place->second].push_back(record);
  }
  return points;
}

}  // namespace

std::string to_string(const ScalingPoint& point) {
  if (point.ranks == 1) return "1 rank";
  return fmt::format("{} ranks, {}, {}", point.ranks, point.scheme, point.scaling);
}

std::vector<ScalingPoint> points_of(const ScalingGrid& grid) {
  expect_each_once(grid.ranks, "numbers of ranks");
  expect_each_once(grid.schemes, "schemes");
  expect_each_once(grid.scalings, "scalings");
  for (const std::string& scheme : grid.schemes) {
    (void)distributed_optimizers().at(scheme.substr(0, scheme.find(':')));
  }
  for (const std::string& scaling : grid.scalings) {
    if (scaling == "strong" || scaling == "weak") continue;
    throw ValueError(fmt::format("scaling is '{}', expected strong or weak", printable(scaling)));
  }
  std::vector<ScalingPoint> points;
  for (const int ranks : grid.ranks) {
    if (ranks < 1) throw ValueError(fmt::format("scaling: {} ranks; expected 1 or more", ranks));
    if (ranks == 1) {
      points.push_back({});
      continue;
    }
    for (const std::string& scheme : grid.schemes) {
      for (const std::string& scaling : grid.scalings) points.push_back({ranks, scheme, scaling});
    }
  }
  return points;
}

std::vector<Measurement> scaling_study(const std::vector<ScalingPoint>& points,
                                       const TrainAt& train, const ScalingStudyOptions& options) {
  KeptRuns kept(options);
  std::vector<RepeatedTraining> trainings;
  for (const ScalingPoint& point : points) {
    trainings.push_back({to_string(point), [&](std::uint64_t seed) {
                           return kept.records_of(fmt::format("{} seed {}", to_string(point), seed),
                                                  [&] { return train(point, seed); });
                         }});
  }
  std::vector<std::vector<Measurement>> joined;
  bool whole = true;
  for (const RepeatedRuns& runs : repeat_trainings(trainings, options.repetition)) {
    whole = whole && !runs.interrupted;
    joined.push_back(join_runs(runs));
    describe(joined.back(), points[joined.size() - 1]);
  }
  std::vector<Measurement> records;
  for (std::size_t i = 0; i < joined.size(); ++i) {
    records.insert(records.end(), joined[i].begin(), joined[i].end());
    const std::size_t base = base_of(points, i);
    const Measurement* mine = find(joined[i], "throughput");
    const Measurement* its = find(joined[base], "throughput");
    if (mine && its && base != i) records.push_back(efficiency_of(*mine, *its));
  }
  kept.finish(records, whole);
  return records;
}

TextTable scaling_summary(const std::vector<Measurement>& records) {
  using enum TextTable::Align;
  TextTable table({{"ranks", right},
                   "scheme",
                   "scaling",
                   {"throughput", right},
                   {"efficiency", right},
                   {"bytes a step", right},
                   {"time to accuracy", right},
                   {"test accuracy", right},
                   "status"});
  for (const auto& of_point : by_point(records)) {
    const Measurement& one = of_point.front();
    const Measurement* throughput = find(of_point, "throughput");
    const Measurement& worst = throughput ? *throughput : one;
    table.add({condition(one, "ranks"), condition(one, "distributed"), condition(one, "scaling"),
               cell(throughput), cell(find(of_point, "efficiency")), bytes_a_step(of_point),
               cell(find(of_point, "time_to_accuracy")), cell(find(of_point, "test_accuracy")),
               std::string(name_of(worst.status))});
  }
  table.drop_empty_columns();
  return table;
}

Plot scaling_plot(const std::vector<Measurement>& records) {
  std::vector<const Measurement*> throughputs;
  for (const Measurement& record : records) {
    if (record.metric == "throughput" && !record.samples.empty()) throughputs.push_back(&record);
  }
  Plot plot{.name = "scaling",
            .title = "Throughput over ranks",
            .note =
                "Mean over runs; bars from the slowest to the fastest. Faint: perfect scaling from "
                "the fewest ranks.",
            .x = {.label = "ranks", .scale = PlotAxis::Scale::whole},
            .y = {.label = "samples a second"}};
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
