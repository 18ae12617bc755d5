// SPDX-License-Identifier: Apache-2.0
#include "d5/prediction/profile/profile_launches.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "d5/core/statistics/student.hpp"
#include "d5/prediction/training/scaling_prediction.hpp"

namespace d5 {
namespace {

/// A launch of two copies, which take so many seconds a step: half of it forward, half backward.
TrainingProfile launch_of(const std::vector<double>& first, const std::vector<double>& second) {
  TrainingProfile profile{.model = "one layer",
                          .digest = "d",
                          .framework = "made up",
                          .optimizer = "sgd",
                          .threads = 1,
                          .copies = 2,
                          .machine = {{"cpu", "one"}}};
  profile.rates.reduce_bandwidth = 1e9, profile.rates.scale_bandwidth = 1e9;
  profile.rates.copy_bandwidth = 1e9;
  profile.parameters = {{"w", 100}};
  profile.pieces = {{.name = "l", .kind = "forward"},
                    {.name = "l", .kind = "backward", .final_parameters = {0}}};
  TrainingProfile::Times times{.batch = 8};
  for (const auto* copy : {&first, &second}) {
    times.steps.insert(times.steps.end(), copy->begin(), copy->end());
  }
  times.unobserved = times.steps;
  std::vector<double> halves;
  for (const double step : times.steps) halves.push_back(step / 2);
  times.seconds = {halves, halves};
  times.gaps.assign(2, std::vector<double>(halves.size(), 0.0));
  profile.batches = {times};
  return profile;
}

/// Both copies of a launch take this in each of so many steps.
TrainingProfile even_launch(double seconds, int steps) {
  const std::vector<double> all(static_cast<std::size_t>(steps), seconds);
  return launch_of(all, all);
}

TEST_CASE("samples of launches stand behind one another in each copy") {
  std::vector<TrainingProfile> launches = {launch_of({1, 2}, {10, 20}), launch_of({3}, {30}),
                                           launch_of({4, 5}, {40, 50})};
  launches[1].rates.reduce_bandwidth = 7e9;
  launches[2].rates.reduce_bandwidth = 2e9;
  const TrainingProfile all = joined_launches(launches);
  const TrainingProfile::Times& times = all.batches.at(0);
  CHECK(times.launches == std::vector<std::int64_t>{2, 1, 2});
  CHECK(times.steps == std::vector<double>{1, 2, 3, 4, 5, 10, 20, 30, 40, 50});
  CHECK(times.unobserved == times.steps);
  CHECK(times.seconds.at(1) == std::vector<double>{.5, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 25});
  CHECK(all.rates.reduce_bandwidth == 2e9);
  CHECK(all.copies == 2);
  const TrainingProfile again = training_profile_from_json(to_json(all), "p.json");
  CHECK(again.batches[0].launches == times.launches);
  CHECK(to_json(again) == to_json(all));
  // One launch is what it was, and has no such field.
  CHECK(to_json(joined_launches({launches.data(), 1})) == to_json(launches[0]));
  CHECK_THAT(to_json(launches[0]), !Catch::Contains("\"launches\""));
}

TEST_CASE("a step of several launches is that of the launches in the middle, each worth the same") {
  // Middles of launches: 1, 2, 3 and 100, of which the first and the last are left out. The many
  // steps of the last do not outweigh the others.
  const std::vector<TrainingProfile> launches = {even_launch(1, 4), even_launch(2, 4),
                                                 even_launch(3, 4), even_launch(100, 50)};
  const StepTimes step = step_times(joined_launches(launches), 8);
  CHECK(step.step == 2.5);
  CHECK(step.seconds == std::vector<double>{1.25, 1.25});
}

TEST_CASE("the interval of a prediction knows how launches differ") {
  const std::vector<TrainingProfile> launches = {even_launch(1, 40), even_launch(1.1, 40),
                                                 even_launch(1.3, 40)};
  ClusterDescription cluster;
  cluster.bandwidth.value = 1;  // a rank alone uses none
  ScalingPredictionOptions options{.ranks = {1}};
  options.training.batch = 8;
  const PredictedPoint point = predict_scaling(joined_launches(launches), cluster, options).front();
  // Student's t for two degrees of freedom is 4.3027, of the logarithms' standard error.
  const double mean = (std::log(1.1) + std::log(1.3)) / 3;
  const auto squared = [&](double time) { return std::pow(std::log(time) - mean, 2); };
  const double half = 4.3027 * std::sqrt((squared(1) + squared(1.1) + squared(1.3)) / 2 / 3);
  CHECK(point.step_interval.high / point.step == Approx(std::exp(half)).epsilon(1e-4));
  CHECK(point.step_interval.low / point.step == Approx(std::exp(-half)).epsilon(1e-4));
}

TEST_CASE("the interval of a prediction is that of the profiled size that it is of") {
  const std::vector<TrainingProfile> launches = {even_launch(1, 40), even_launch(1.3, 40)};
  TrainingProfile profile = joined_launches(launches);
  profile.batches.push_back(even_launch(2, 40).batches[0]);  // its steps do not differ
  profile.batches[1].batch = 16;
  ClusterDescription cluster;
  cluster.bandwidth.value = 1;  // a rank alone uses none
  ScalingPredictionOptions options{.ranks = {1}};
  for (const std::int64_t batch : {8, 16}) {
    options.training.batch = batch;
    const PredictedPoint point = predict_scaling(profile, cluster, options).front();
    CHECK((point.step_interval.high > point.step * 1.01) == (batch == 8));
  }
}

TEST_CASE("steps of all launches are judged together") {
  const auto reasons = [](int launches, int steps) {
    return joined_launches(std::vector<TrainingProfile>(static_cast<std::size_t>(launches),
                                                        even_launch(1, steps)))
        .mistrusted;
  };
  CHECK(reasons(6, 5).empty());
  CHECK(reasons(5, 5) == std::vector<std::string>{"25 steps of each batch size, fewer than 30"});
  std::vector<TrainingProfile> crowded(6, even_launch(1, 5));
  for (TrainingProfile& launch : crowded) launch.mistrusted = {"4 threads in all on 2 cores"};
  CHECK(joined_launches(crowded).mistrusted == crowded[0].mistrusted);
  // The batch sizes common to all launches.
  crowded[0].batches.push_back(crowded[0].batches[0]);
  crowded[0].batches[1].batch = 16;
  CHECK(joined_launches(crowded).batches.size() == 1);
}

TEST_CASE("launches of trainings that differ are refused, with what differs") {
  std::vector<TrainingProfile> launches(2, even_launch(1, 5));
  TrainingProfile& other = launches[1];
  const auto expect_refusal = [&](const std::string& says) {
    CHECK_THROWS_AS(joined_launches(launches), ValueError);
    CHECK_THROWS_WITH(joined_launches(launches), Catch::Contains(says));
  };
  SECTION("a node of another name") {
    other.pieces[1].name = "m";
    expect_refusal("launch 2 has backward 'm' as piece 2, the first backward 'l'");
  }
  SECTION("a node more") {
    other.pieces.push_back({.name = "w", .kind = "update"});
    other.batches[0].seconds.emplace_back(10, 0.0);
    other.batches[0].gaps.emplace_back(10, 0.0);
    expect_refusal("launch 2 has 3 pieces, the first 2");
  }
  SECTION("a parameter of another size") {
    other.parameters[0].bytes = 200;
    expect_refusal("other parameters");
  }
  SECTION("other copies") {
    other.copies = 1;
    expect_refusal("copies '1', the first '2'");
  }
  SECTION("another machine") {
    other.machine["cpu"] = "two";
    expect_refusal("cpu=two");
  }
  SECTION("no batch size in common") {
    other.batches[0].batch = 9;
    expect_refusal("no batch size in common");
  }
  SECTION("several launches already") {
    other = joined_launches(std::vector<TrainingProfile>(2, even_launch(1, 5)));
    expect_refusal("launch 2 has several launches already");
  }
  SECTION("none") {
    launches.clear();
    expect_refusal("none; expected 1 or more");
  }
}

TEST_CASE("numbers of steps that are not those of the samples are refused") {
  TrainingProfile all = joined_launches(std::vector<TrainingProfile>(2, even_launch(1, 15)));
  auto& launches = all.batches[0].launches;
  SECTION("too few") { launches = {15, 14}; }
  SECTION("none in a launch") { launches = {30, 0}; }
  SECTION("of other copies") { all.copies = 3; }
  SECTION("of a product that no number holds") {
    launches = {(std::int64_t{1} << 62) + 15};
    all.copies = 4;  // 2^64 + 60, of 60 steps
  }
  SECTION("of no copy") { all.copies = 0; }
  SECTION("unobserved ones missing") { all.batches[0].unobserved.pop_back(); }
  CHECK_THROWS_AS(check(all), ValueError);
  CHECK_THROWS_AS(training_profile_from_json(to_json(all), "p.json"), FormatError);
}

}  // namespace
}  // namespace d5
