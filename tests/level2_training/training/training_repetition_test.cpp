// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/training/training_repetition.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "d5/core/errors/error.hpp"

using namespace d5;

namespace {

/// Trains nothing: takes the seconds that stand for its seed; below 0 it does not converge.
RepeatedTraining scripted(const std::vector<double>& seconds) {
  return {.train = [seconds](std::uint64_t seed) {
    Measurement time{.subject = "scripted", .metric = "time_to_accuracy", .unit = "s"};
    time.quantity = Quantity::time;
    time.statistic = {.of = Statistic::Of::single};
    time.conditions = {{"seed", setting(seed)}, {"target", identity(0.9)}};
    Measurement loss{.subject = "scripted", .metric = "loss", .unit = "1"};
    loss.statistic = {.of = Statistic::Of::last};
    loss.samples = {1, 0.5, double(seed)};
    const double taken = seconds.at(std::size_t(seed));
    if (taken >= 0) {
      time.samples = {taken};
    } else {
      time.status = Status::failed;
      time.reason = "accuracy 0.9 was not reached";
    }
    return std::vector{time, loss};
  }};
}

std::vector<Measurement> joined_runs(const std::vector<double>& seconds,
                                     RepetitionOptions options) {
  return join_runs(repeat_trainings({scripted(seconds)}, options).front());
}

}  // namespace

TEST_CASE("runs become a sample each, with median, mean and olympic mean") {
  const auto results = joined_runs({3, 1, 2, 10, 4}, {.runs = 5});
  REQUIRE(results.size() == 2);
  const Measurement& time = results[0];
  CHECK(time.samples == std::vector<double>{3, 1, 2, 10, 4});
  CHECK(time.status == Status::passed);
  CHECK(estimate(time).value == 3);
  CHECK(time.conditions.at("runs") == "5");
  CHECK(time.conditions.at("seeds") == "0 to 4");
  CHECK_FALSE(time.conditions.contains("seed"));
  CHECK(time.conditions.at("target") == "0.9");
  CHECK(time.conditions.at("mean") == finding(4.0, "s"));
  CHECK(time.conditions.at("olympic_mean") == finding(3.0, "s"));
  CHECK(results[1].samples == std::vector<double>{0, 1, 2, 3, 4});  // the last of each curve
}

TEST_CASE("what one of several runs doubts is doubted of all, whichever it is") {
  RepeatedRuns runs{.seeds = {1, 2, 3}};
  for (const char* doubt : {"", "it drifts", ""}) {
    auto& records = runs.records.emplace_back();
    records.push_back({.metric = "time_to_accuracy", .samples = {10}});
    if (*doubt) mistrust(records.back(), doubt);
  }
  CHECK(join_runs(runs)[0].status == Status::mistrusted);
  mistrust(runs.records[2][0], "other work");
  CHECK(join_runs(runs)[0].reason == "it drifts; other work");
  // A run that is tolerated adds its reason.
  runs.records[0][0].status = Status::failed;
  runs.records[0][0].reason = "accuracy 0.9 was not reached";
  CHECK(join_runs(runs)[0].status == Status::mistrusted);
  CHECK_THAT(join_runs(runs)[0].reason,
             Catch::Contains("it drifts") && Catch::Contains("1 of 3 runs did not converge"));
}

TEST_CASE("records of several ranks are joined rank by rank") {
  RepeatedRuns runs{.seeds = {1, 2}};
  for (const double seed : {1.0, 2.0}) {
    auto& records = runs.records.emplace_back();
    for (const int rank : {0, 1}) {
      records.push_back({.metric = "communication_volume", .samples = {10 * seed + rank}});
      records.back().conditions["rank"] = identity(rank);
    }
  }
  const auto results = join_runs(runs);
  REQUIRE(results.size() == 2);
  CHECK(results[0].samples == std::vector<double>{10, 20});
  CHECK(results[1].samples == std::vector<double>{11, 21});
  CHECK(results[1].conditions.at("rank") == "1");
}

TEST_CASE("one run that does not converge is the slowest, a second one fails all") {
  const Measurement once = joined_runs({3, -1, 2, 4, 5}, {.runs = 5}).front();
  CHECK(once.status == Status::mistrusted);
  CHECK_THAT(once.reason, Catch::Contains("1 of 5") && Catch::Contains("seed 1"));
  CHECK(std::isinf(once.samples[1]));
  CHECK(estimate(once).value == 4);
  CHECK(once.conditions.at("converged") == "4");
  CHECK(once.conditions.at("mean") == finding(3.5, "s"));
  CHECK(once.conditions.at("olympic_mean") == finding(4.0, "s"));
  const Measurement twice = joined_runs({3, -1, 2, -1, 5}, {.runs = 5}).front();
  CHECK(twice.status == Status::failed);
  CHECK(twice.samples.size() == 4);  // no more are made
  CHECK(joined_runs({-1}, {.runs = 1}).front().status == Status::failed);
  CHECK(joined_runs({-1, 1}, {.runs = 2}).front().status == Status::failed);
}

TEST_CASE("auto makes five runs, and more until the mean is known") {
  const auto runs = [](const std::vector<double>& seconds, RepetitionOptions options = {}) {
    return joined_runs(seconds, options).front().samples.size();
  };
  CHECK(runs({10, 10.1, 9.9, 10, 10}) == 5);
  // Student's t of 5 samples: 2.776 * 1.581 / sqrt(5) = 1.96 of 10; of 30: 2.045 * 1.44 / sqrt(30).
  std::vector<double> spread;
  for (int i = 0; i < 40; ++i) spread.push_back(8 + i % 5);
  CHECK(runs(spread) == 30);
  CHECK(runs(spread, {.most = 12}) == 12);
  CHECK(runs(spread, {.half_width = 0.2}) == 5);
  CHECK(runs(spread, {.half_width = 0.1}) > 5);
  CHECK(runs(spread, {.half_width = 0.1}) < 15);
}

TEST_CASE("several trainings are interleaved, and each run is reported") {
  std::vector<std::string> order;
  const auto logged = [&](const std::string& name) {
    return RepeatedTraining{.name = name, .train = [&order, name](std::uint64_t seed) {
                              order.push_back(name + std::to_string(seed));
                              return scripted(std::vector<double>(20, 1)).train(seed);
                            }};
  };
  std::vector<std::string> lines;
  const auto all = repeat_trainings(
      {logged("a"), logged("b")},
      {.runs = 2, .seed = 7, .say = [&](const std::string& line) { lines.push_back(line); }});
  CHECK(order == std::vector<std::string>{"a7", "b7", "a8", "b8"});
  REQUIRE(lines.size() == 4);
  CHECK_THAT(lines[1], Catch::Contains("run 1 of 2, seed 7, b: time_to_accuracy 1"));
  CHECK(all[1].seeds == std::vector<std::uint64_t>{7, 8});
}

TEST_CASE("an interrupt keeps the runs that are done") {
  std::stop_source stop;
  int made = 0;
  const RepeatedTraining training{.train = [&](std::uint64_t seed) {
    if (++made == 3) stop.request_stop();
    return scripted(std::vector<double>(20, 1)).train(seed);
  }};
  const auto all = repeat_trainings({training}, {.interrupt = {.token = stop.get_token()}});
  CHECK(all.front().records.size() == 2);
  const auto results = join_runs(all.front());
  CHECK(results.front().status == Status::mistrusted);
  CHECK_THAT(results.front().reason, Catch::Contains("interrupted"));
}

TEST_CASE("an interrupt while a run opens its data keeps the runs that are done") {
  std::stop_source stop;
  int made = 0, throws_at = 3;
  const RepeatedTraining training{.train = [&](std::uint64_t seed) {
    if (++made == throws_at) {
      stop.request_stop();
      throw Interrupted("reading: interrupted");
    }
    return scripted(std::vector<double>(20, 1)).train(seed);
  }};
  const auto all = repeat_trainings({training}, {.interrupt = {.token = stop.get_token()}});
  CHECK(all.front().records.size() == 2);
  CHECK(join_runs(all.front()).front().status == Status::mistrusted);
  made = 0, throws_at = 1;  // nothing is done that could be kept
  CHECK_THROWS_AS(repeat_trainings({training}, {.interrupt = {.token = stop.get_token()}}),
                  Interrupted);
}

TEST_CASE("a recipe is repeated from one seed after another, each with the bits of its own run") {
  const Recipe recipe = Recipe::parse(R"(name: tiny
fixed:
  dataset: {name: mnist, subset: sample, train_samples: 20, test_samples: 10}
  model: {name: lenet}
mutable:
  sampler: {batch_size: 8}
  optimizer: {name: momentum, learning_rate: 0.05}
  training: {epochs: 1, seed: 4}
)",
                                      "tiny.yaml");
  const auto results = repeat_training(recipe, {.runs = 2});
  const auto loss = std::ranges::find(results, "loss", &Measurement::metric);
  REQUIRE(loss->samples.size() == 2);
  CHECK(loss->samples[0] != loss->samples[1]);
  CHECK(loss->conditions.at("seeds") == "4 to 5");
  CHECK_THAT(loss->command, Catch::Contains("--repeat 2") && !Catch::Contains("seed"));
  const auto alone = TrainingSession(with_seed(recipe, 5)).run();
  CHECK(std::ranges::find(alone, "loss", &Measurement::metric)->samples.back() == loss->samples[1]);
}

TEST_CASE("options out of range are refused") {
  CHECK_THROWS_AS(repeat_trainings({}, {}), ValueError);
  CHECK_THROWS_AS(joined_runs({1}, {.runs = -1}), ValueError);
  CHECK_THROWS_AS(joined_runs({1}, {.fewest = 1}), ValueError);
  CHECK_THROWS_AS(joined_runs({1}, {.fewest = 5, .most = 4}), ValueError);
}

TEST_CASE("all runs of several trainings are made, whatever they reach") {
  const auto never = scripted({-1, -1, -1, -1}), always = scripted({1, 2, 3, 4});
  const auto alone = repeat_trainings({never}, {.runs = 4});
  CHECK(alone[0].records.size() == 2);  // there is nothing to learn from more
  const auto both = repeat_trainings({never, always}, {.runs = 4});
  CHECK(both[0].records.size() == 4);
  CHECK(both[1].records.size() == 4);
}

TEST_CASE("what runs that are compared do not reach is no failure, but a run that broke off is") {
  auto runs = repeat_trainings({scripted({1, -1, -1})}, {.runs = 3}).front();
  CHECK(join_runs(runs).front().status == Status::failed);
  runs.compared = true;
  CHECK(join_runs(runs).front().status == Status::mistrusted);
  CHECK_THAT(join_runs(runs).front().reason, Catch::Contains("2 of 3 runs did not converge"));
  for (Measurement& record : runs.records[1]) record.status = Status::failed;
  CHECK(join_runs(runs).front().status == Status::failed);
}

TEST_CASE("the record counts the compared runs that miss what is accepted") {
  RepeatedRuns runs{.seeds = {1, 2, 3}};
  for (const char* words : {"at least 0.9", "at least 0.9, missed", "at least 0.9, missed"}) {
    runs.records.push_back({{.metric = "test_accuracy", .samples = {0.8}}});
    runs.records.back().front().conditions["accepted"] = finding(words);
  }
  CHECK(join_runs(runs).front().conditions.at("accepted") == "at least 0.9, missed by 2 of 3 runs");
}
