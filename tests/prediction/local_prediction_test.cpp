// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/training/local_prediction.hpp"

#include <catch2/catch.hpp>

#include "d5/core/errors/error.hpp"
#include "d5/prediction/training/prediction_timeline.hpp"
#include "tests/core/svg_texts.hpp"

namespace d5 {
namespace {

/// A step of 30 ms, with a megabyte of gradients at its end; 60 ms where two copies run.
TrainingProfile profile_of(int copies) {
  TrainingProfile profile{.model = "one piece", .framework = "none", .copies = copies};
  profile.parameters = {{"all", 1e6}};
  profile.pieces = {{.name = "all", .kind = "forward"},
                    {.name = "all", .kind = "backward", .final_parameters = {0}}};
  TrainingProfile::Times times{.batch = 8};
  times.seconds.assign(2, std::vector<double>(4, 0.015 * copies));
  times.gaps.assign(2, std::vector<double>(4, 0.0));
  times.steps.assign(4, 0.030 * copies);
  profile.batches = {times};
  if (copies > 1) profile.mistrusted = {"crowded"};
  return profile;
}

ClusterDescription memory(int ranks) {
  ClusterDescription cluster;
  cluster.name = "memory of " + std::to_string(ranks);
  cluster.hosts = 2;
  cluster.bandwidth = {1e9, "made up"};
  return cluster;
}

/// Each launch records that it ran, and measures a step.
LocalRanks noting(std::string& order, int launches, double measured) {
  return {.profile =
              [&](int copies, int launch) {
                order += " p" + std::to_string(copies) + std::to_string(launch);
                return profile_of(copies);
              },
          .cluster =
              [&](int ranks) {
                order += " n" + std::to_string(ranks);
                return memory(ranks);
              },
          .steps =
              [&order, measured](int ranks, int launch) {
                order += " m" + std::to_string(ranks) + std::to_string(launch);
                return std::vector<double>(3, measured);
              },
          .timeline = {},
          .launches = launches};
}

TEST_CASE("launches are profiled and measured in turns, and predictions know the profiles alone") {
  std::string order;
  ScalingPredictionOptions options{.ranks = {2}, .what_helps = false};
  options.training.batch = 8;
  const auto curve = predict_here(noting(order, 3, 0.050), options);
  CHECK(order == " n2 p21 m21 p22 m22 p23 m23");
  CHECK(curve.points.at(0).measured == std::vector<double>(3, 0.050));  // a launch each
  const auto slow = predict_here(noting(order, 3, 9), options);
  CHECK(slow.points.at(0).step == curve.points.at(0).step);
  CHECK(slow.points.at(0).step_interval.high == curve.points.at(0).step_interval.high);
}

TEST_CASE("a wish between two launches leaves the profile of those that ran, mistrusted") {
  std::string order;
  LocalRanks here = noting(order, 6, 0.050);
  const Interrupt after_two{.wished = [&] { return order.ends_with("p12"); }};
  const auto profile = profile_here(here, 1, after_two);
  CHECK(profile.batches.at(0).launches.size() == 2);
  CHECK(profile.mistrusted.back() == "2 of 6 launches: interrupted");
  here.profile = [](int, int launch) {
    if (launch == 2) throw Interrupted("interrupted");
    return profile_of(1);
  };
  CHECK(profile_here(here, 1).mistrusted.back() == "1 of 6 launches: interrupted");
}

TEST_CASE("a launch that is interrupted leaves the prediction of those before it, mistrusted") {
  std::string order;
  LocalRanks here = noting(order, 6, 0.050);
  const auto steps = here.steps;
  int last = 2;
  here.steps = [&](int ranks, int launch) {
    if (launch > last) throw Interrupted("interrupted");
    return steps(ranks, launch);
  };
  ScalingPredictionOptions options{.ranks = {1}, .what_helps = false};
  options.training.batch = 8;
  const PredictedCurve curve = predict_here(here, options);
  CHECK(order == " p11 m11 p12 m12 p13");
  CHECK(curve.points.at(0).measured == std::vector<double>(2, 0.050));
  CHECK_THAT(curve.points.at(0).mistrusted, Catch::Contains("2 of 6 launches: interrupted"));
  last = 0;
  CHECK_THROWS_AS(predict_here(here, options), Interrupted);
}

TEST_CASE("what runs here is predicted from as many copies") {
  std::string order;
  const LocalRanks here = noting(order, 1, 0.050);
  ScalingPredictionOptions options{.ranks = {1, 2}, .what_helps = false};
  options.training.batch = 8;
  const PredictedCurve curve = predict_here(here, options);
  CHECK(order == " p11 m11 n2 p21 m21");
  REQUIRE(curve.points.size() == 2);
  CHECK(curve.cluster == "memory of 2");
  CHECK(curve.model == "one piece");
  CHECK(curve.points[0].step == Approx(0.030));
  // Half of a megabyte there and half back.
  CHECK(curve.points[1].step == Approx(0.061));
  CHECK(curve.points[1].efficiency == Approx(0.030 / 0.061));
  CHECK(curve.points[0].mistrusted.empty());
  CHECK(curve.points[1].mistrusted == "crowded");
  const auto records = prediction_records({curve});
  int errors = 0;
  for (const Measurement& record : records) {
    if (record.metric != "prediction_error") continue;
    ++errors;
    const bool alone = record.conditions.at("ranks") == "1";
    CHECK(record.samples.at(0) == Approx(alone ? -0.4 : 0.22));
  }
  CHECK(errors == 2);
}

TEST_CASE("a step of the most ranks here is shown above the predicted one") {
  std::string order;
  const LocalRanks here{.profile = [](int copies, int) { return profile_of(copies); },
                        .cluster = memory,
                        .steps = {},
                        .timeline =
                            [&](int ranks) {
                              order += "t" + std::to_string(ranks);
                              return predicted_timeline(profile_of(1), ranks, memory(2),
                                                        {.batch = 8});
                            }};
  ScalingPredictionOptions options{.ranks = {2, 1}};
  options.training.batch = 8;
  const Timeline both = timeline_here(here, options);
  CHECK(order == "t2");
  std::vector<double> steps;
  for (const TraceRecord& record : both.records) {
    if (record.name == "step" && record.rank == 1) {
      steps.push_back(static_cast<double>(record.end_ns - record.begin_ns) * 1e-9);
    }
  }
  REQUIRE(steps.size() >= 2);
  std::ranges::sort(steps);  // the one that plays the measured step is of one copy
  CHECK(steps.front() == Approx(0.031));
  CHECK(steps.back() == Approx(0.061));
  options.ranks = {};
  CHECK_THROWS_AS(timeline_here(here, options), ValueError);
}

TEST_CASE("curves side by side are told apart by what differs between them") {
  ScalingPredictionOptions options{.ranks = {1, 2}, .what_helps = false};
  options.training.batch = 8;
  PredictedCurve one;
  one.model = "one piece";
  one.cluster = "slow";
  one.points = predict_scaling(profile_of(1), memory(2), options);
  PredictedCurve other = one;
  other.cluster = "fast";
  other.strategy = "compute:factor=2";
  const std::string text = prediction_table({one, other}).to_text(Format::table);
  CHECK_THAT(text, Catch::Contains("slow") && Catch::Contains("compute:factor=2"));
  CHECK_THAT(text, !Catch::Contains("one piece"));
  const Plot plot = prediction_plot({one, other});
  const auto& series = plot.series;
  CHECK(std::ranges::find(series, "predicted, fast, compute:factor=2") != series.end());
  CHECK(std::ranges::find(series, "measured, fast") == series.end());
  CHECK(prediction_plot({one}).title == "one piece on slow");
  CHECK(testing::faults_of_texts(plot) == "");
}

}  // namespace
}  // namespace d5
