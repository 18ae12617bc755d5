// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/launching/scaling_study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <thread>

#include "core/results/inherited_doubt.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/core/results/environment.hpp"
#include "d5/core/results/kept_runs.hpp"
#include "d5/core/results/results.hpp"
#include "d5/core/statistics/student.hpp"
#include "d5/level3_distributed/schemes/distributed_optimizer.hpp"
#include "level3_distributed/launching/scaling_records.hpp"

namespace d5 {
namespace {

using detail::find;
using detail::ranks_of;

template <class T>
void expect_each_once(const std::vector<T>& list, const char* what) {
  if (list.empty()) throw ValueError(fmt::format("scaling: no {} were given", what));
  if (std::set<T>(list.begin(), list.end()).size() == list.size()) return;
  throw ValueError(fmt::format("scaling: the list has the same {} twice", what));
}

void describe(std::vector<Measurement>& records, const ScalingPoint& point) {
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  for (Measurement& record : records) {
    record.conditions["ranks"] = identity(point.ranks);
    if (point.ranks > 1) {
      record.conditions["distributed"] = identity(point.scheme);
      record.conditions["scaling"] = identity(point.scaling);
    }
    if (point.ranks > cores) {
      mistrust(record, fmt::format("{} ranks shared {} cores", point.ranks, cores));
    }
  }
}

/// The baseline of `point`: one rank, or else the fewest ranks of its own scheme.
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
  // Means and bounds in the throughput's unit say nothing of an efficiency.
  std::erase_if(result.conditions, [&](const auto& one) {
    return !mine.unit.empty() && one.second.unit == mine.unit;
  });
  const double more = double(ranks_of(mine)) / ranks_of(base);
  for (std::size_t run = 0; run < std::min(mine.samples.size(), base.samples.size()); ++run) {
    result.samples.push_back(mine.samples[run] / base.samples[run] / more);
  }
  const int fewest = ranks_of(base);
  result.conditions["base"] =
      identity(fmt::format("{} {}", fewest, fewest == 1 ? "rank" : "ranks"));
  detail::inherit_doubt(result, base, condition_of(result, "base"));
  return result;
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
    (void)find_scheme(scheme.substr(0, scheme.find(':')));
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
  KeptRuns kept(options.out, options.how, options.resume);
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
    if (!mine || !its || base == i) continue;
    records.push_back(efficiency_of(*mine, *its));
    if (!options.command.empty()) records.back().command = options.command;
  }
  using End = ResultJournal::End;
  kept.finish(records, whole ? End::whole : End::cut_short);
  return records;
}

}  // namespace d5
