// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/training/prediction_timeline.hpp"

#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/core/trace/trace.hpp"

namespace d5 {
namespace {

/// 10 ms forward, 20 ms backward, then a megabyte.
TrainingProfile one_piece() {
  TrainingProfile profile{.model = "one piece", .framework = "none"};
  profile.parameters = {{"weights", 1e6}};
  profile.pieces = {{.name = "all", .kind = "forward"},
                    {.name = "all", .kind = "backward", .final_parameters = {0}}};
  TrainingProfile::Times times{.batch = 8};
  times.seconds = {{0.010}, {0.020}};
  times.gaps = {{0}, {0}};
  times.steps = {0.030};
  profile.batches = {times};
  return profile;
}

/// At 1 GB/s.
ClusterDescription timeline_cluster() {
  ClusterDescription cluster;
  cluster.name = "made up";
  cluster.hosts = 32;
  cluster.bandwidth = {1e9, "made up"};
  return cluster;
}

Timeline two_ranks() {
  return predicted_timeline(one_piece(), 2, timeline_cluster(), {.batch = 8});
}

std::vector<TraceRecord> named(const Timeline& timeline, const std::string& name, int rank) {
  std::vector<TraceRecord> found;
  for (const TraceRecord& record : timeline.records) {
    if (record.name == name && record.rank == rank) found.push_back(record);
  }
  return found;
}

TEST_CASE("a predicted timeline has a process a rank, and what it did when") {
  const Timeline timeline = two_ranks();
  CHECK_FALSE(Trace::on());
  REQUIRE(timeline.ranks.size() == 2);
  for (int rank = 0; rank < 2; ++rank) {
    const auto steps = named(timeline, "step", rank);
    REQUIRE(steps.size() == 4);
    CHECK(steps[1].end_ns - steps[1].begin_ns == Approx(31e6).epsilon(1e-6));
    const auto forward = named(timeline, "forward", rank).at(1);
    CHECK(forward.begin_ns == steps[1].begin_ns);
    CHECK(forward.end_ns - forward.begin_ns == Approx(10e6));
    const auto backward = named(timeline, "backward to weights", rank).at(1);
    CHECK(backward.begin_ns == forward.end_ns);
    CHECK_FALSE(named(timeline, "send", rank).empty());
  }
  Trace::start();
  CHECK_THROWS_AS(two_ranks(), ValueError);
  Trace::stop();
}

TEST_CASE("a curve's timeline is of its most ranks that a page has room for") {
  ScalingPredictionOptions options{.ranks = {2, 4, 32}, .scaling = PredictedScaling::strong};
  options.training.batch = 32;
  CHECK(predicted_timeline(one_piece(), timeline_cluster(), options).ranks.size() == 4);
  options.ranks = {32};
  CHECK(predicted_timeline(one_piece(), timeline_cluster(), options).ranks.size() == 1);
  options.ranks = {3};
  CHECK_THROWS_WITH(predicted_timeline(one_piece(), timeline_cluster(), options),
                    Catch::Contains("cannot share"));
  options.training.rewrites = {{.change = [](PlannedGraph&) {}}};
  options.ranks = {1};
  CHECK_THROWS_AS(predicted_timeline(one_piece(), timeline_cluster(), options), Unsupported);
}

TEST_CASE("a step that was measured stands above one that was predicted") {
  Timeline measured;
  measured.ranks = {{.rank = 0, .clock = {}}, {.rank = 1, .clock = {}}, {.rank = 2, .clock = {}}};
  measured.lanes = {{0, 7, "main"}, {1, 7, "main"}, {2, 7, "main"}};
  std::uint64_t id = 0;
  const auto add = [&](int rank, std::int64_t begin, std::int64_t end, const char* name) {
    measured.records.push_back({.rank = rank,
                                .lane = 7,
                                .id = ++id,
                                .begin_ns = begin,
                                .end_ns = end,
                                .level = "training",
                                .name = name});
  };
  for (int rank = 0; rank < 3; ++rank) {
    add(rank, 1000, 9000, "step");  // a slow one
    add(rank, 10'000, 13'000, "step");
    add(rank, 11'000, 12'000, "mine");
    add(rank, 20'000, 22'000, "step");
  }
  const Timeline both = measured_above_predicted(measured, two_ranks());
  CHECK(both.ranks.size() == 2);  // the third was not predicted
  const auto steps = named(both, "step", 1);
  REQUIRE(steps.size() == 2);
  for (const auto& step : steps) CHECK(step.begin_ns == 0);
  CHECK(named(both, "mine", 1).front().begin_ns == 1000);
  std::vector<std::string> lanes;
  for (const TraceLane& lane : both.lanes) {
    if (lane.rank == 1) lanes.push_back(lane.name);
  }
  CHECK(lanes == std::vector<std::string>{"measured main", "predicted rank 1"});
  CHECK_THROWS_AS(measured_above_predicted({}, two_ranks()), ValueError);
}

}  // namespace
}  // namespace d5
