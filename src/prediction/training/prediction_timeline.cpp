// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/training/prediction_timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/core/trace/trace.hpp"

namespace d5 {
namespace {

constexpr std::string_view kLanePrefix = "simulated rank ";  // name given by `run_simulated`
constexpr std::string_view kStep = "step";

/// Records a trace during its lifetime.
class TraceWhile {
 public:
  TraceWhile() {
    if (Trace::on())
      throw ValueError("a predicted timeline: another trace is running; stop it first");
    Trace::start();
  }
  ~TraceWhile() { Trace::stop(); }
  TraceWhile(const TraceWhile&) = delete;
  TraceWhile& operator=(const TraceWhile&) = delete;
};

/// The rank of each lane; lanes without a rank are left out.
std::map<int, int> ranks_of_lanes(const Timeline& timeline) {
  std::map<int, int> ranks;
  for (const TraceLane& lane : timeline.lanes) {
    if (!lane.name.starts_with(kLanePrefix)) continue;
    int rank = 0;
    const char* const end = lane.name.data() + lane.name.size();
    if (std::from_chars(lane.name.data() + kLanePrefix.size(), end, rank).ptr == end) {
      ranks[lane.number] = rank;
    }
  }
  return ranks;
}

bool is_step(const TraceRecord& record) {
  return record.kind == TraceRecord::Kind::span && record.level == "training" &&
         record.name == kStep;
}

/// The steps of rank 0, in order.
std::vector<const TraceRecord*> steps_of(const Timeline& timeline) {
  std::vector<const TraceRecord*> steps;
  for (const TraceRecord& record : timeline.records) {
    if (is_step(record) && record.rank == 0) steps.push_back(&record);
  }
  if (!steps.empty()) return steps;
  throw ValueError("timelines side by side: one has no span 'step' of rank 0");
}

std::int64_t length(const TraceRecord* record) { return record->end_ns - record->begin_ns; }

/// Copies a step of every rank from `from` to new lanes of `into`, beginning at time 0.
void add_step(Timeline& into, const Timeline& from, const TraceRecord& step,
              const std::string& what) {
  std::map<std::pair<int, int>, int> lanes;
  const auto lane_of = [&](const TraceRecord& record) {
    const auto [place, is_new] = lanes.try_emplace({record.rank, record.lane}, 0);
    if (!is_new) return place->second;
    const auto name = std::ranges::find_if(from.lanes, [&](const TraceLane& lane) {
      return lane.rank == record.rank && lane.number == record.lane;
    });
    place->second = static_cast<int>(into.lanes.size());
    into.lanes.push_back(
        {record.rank, place->second, what + " " + (name == from.lanes.end() ? "" : name->name)});
    return place->second;
  };
  for (const TraceRecord& record : from.records) {
    const bool inside = record.begin_ns >= step.begin_ns && record.begin_ns <= step.end_ns &&
                        record.end_ns > step.begin_ns;
    const bool known =
        std::ranges::find(into.ranks, record.rank, &TraceRank::rank) != into.ranks.end();
    if (!inside || !known) continue;
    TraceRecord moved = record;
    moved.lane = lane_of(record);
    moved.begin_ns -= step.begin_ns;
    moved.end_ns = std::max(moved.begin_ns, moved.end_ns - step.begin_ns);
    // Clears ids, which are unique only within one process.
    moved.id = moved.parent = 0;
    into.records.push_back(std::move(moved));
  }
}

}  // namespace

Timeline predicted_timeline(const TrainingProfile& profile, int ranks,
                            const ClusterDescription& cluster,
                            const SimulatedTrainingOptions& options) {
  if (options.by_formula) {
    throw Unsupported(
        "a predicted timeline: by formula no rank is simulated; choose a simulated network, or "
        "leave "
        "out the trace");
  }
  if (!std::ranges::all_of(options.rewrites, &TrainingRewrite::is_scheme)) {
    throw Unsupported(
        "a predicted timeline: no scheme implements a strategy, so its graph is scheduled and no "
        "rank is simulated; leave out the strategy or the trace");
  }
  Timeline all;
  {
    const TraceWhile recording;
    (void)simulate_training(profile, ranks, cluster, options);
    all = Trace::timeline();
  }
  const auto ranks_by_lane = ranks_of_lanes(all);
  Timeline timeline;
  for (int rank = 0; rank < ranks; ++rank) {
    timeline.ranks.push_back({.rank = rank, .host = "simulated", .clock = {}});
    timeline.lanes.push_back({rank, 0, "rank " + std::to_string(rank)});
  }
  for (TraceRecord& record : all.records) {
    const auto place = ranks_by_lane.find(record.lane);
    if (place == ranks_by_lane.end()) continue;
    record.rank = place->second;
    record.lane = 0;
    timeline.records.push_back(std::move(record));
  }
  timeline.sort();
  return timeline;
}

Timeline predicted_timeline(const TrainingProfile& profile, const ClusterDescription& cluster,
                            const ScalingPredictionOptions& options) {
  constexpr int kMost = 16;
  int ranks = 1;
  for (const int each : options.ranks) {
    if (each <= kMost) ranks = std::max(ranks, each);
  }
  SimulatedTrainingOptions training = options.training;
  training.batch = batch_of_rank(options, ranks);
  return predicted_timeline(profile, ranks, cluster, training);
}

Timeline measured_above_predicted(const Timeline& measured, const Timeline& predicted) {
  auto seen = steps_of(measured);
  std::ranges::sort(seen, {}, length);
  Timeline both;
  for (const TraceRank& rank : measured.ranks) {
    if (std::ranges::find(predicted.ranks, rank.rank, &TraceRank::rank) != predicted.ranks.end()) {
      both.ranks.push_back(rank);
    }
  }
  add_step(both, measured, *seen[seen.size() / 2], "measured");
  add_step(both, predicted, *steps_of(predicted).back(), "predicted");
  std::uint64_t id = 0;
  for (TraceRecord& record : both.records) {
    if (record.kind != TraceRecord::Kind::counter) record.id = ++id;
  }
  both.sort();
  return both;
}

}  // namespace d5
