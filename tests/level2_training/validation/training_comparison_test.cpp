// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/validation/training_comparison.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/core/svg_texts.hpp"

using namespace d5;

namespace {

ComparedTraining runs(const std::string& name, const std::vector<double>& accuracies,
                      const std::vector<double>& seconds) {
  ComparedTraining result{.name = name};
  for (std::size_t i = 0; i < accuracies.size(); ++i) {
    Measurement accuracy{.subject = name, .framework = "reference", .metric = "test_accuracy"};
    accuracy.direction = Direction::higher_is_better;
    accuracy.statistic = {.of = Statistic::Of::last};
    accuracy.samples = {0.5, accuracies[i]};
    Measurement time{.subject = name, .framework = "reference", .metric = "time_to_accuracy"};
    time.statistic = {.of = Statistic::Of::single};
    time.samples = {seconds[i]};
    result.runs.seeds.push_back(i);
    result.runs.records.push_back({accuracy, time});
  }
  return result;
}

const Measurement& named_comparison(const std::vector<Measurement>& results,
                                    const std::string& metric) {
  return *std::ranges::find(results, metric, &Measurement::metric);
}

std::string verdict(const ComparedTraining& subject, const ComparedTraining& base) {
  return named_comparison(compare_trainings(subject, base), "trade_off")
      .conditions.at("verdict")
      .text();
}

Recipe tiny(const std::string& name, const std::string& rate) {
  return Recipe::parse("name: " + name + R"(
fixed:
  dataset: {name: mnist, subset: sample, train_samples: 20, test_samples: 10}
  model: {name: lenet}
mutable:
  sampler: {batch_size: 8}
  optimizer: {name: momentum, learning_rate: )" +
                           rate + R"(}
  training: {epochs: 1, seed: 4}
)",
                       name + ".yaml");
}

}  // namespace

TEST_CASE("a trade-off of times that are mistrusted is mistrusted") {
  auto doubtful = runs("doubtful", {0.96, 0.97, 0.98, 0.97}, {5, 5.5, 6, 5.5});
  const auto base = runs("base", {0.90, 0.91, 0.92, 0.91}, {10, 11, 12, 11});
  CHECK(named_comparison(compare_trainings(doubtful, base), "trade_off").status == Status::passed);
  mistrust(doubtful.runs.records[0][1], "other work kept 3 of 2 processors busy");
  const auto results = compare_trainings(doubtful, base);
  CHECK(named_comparison(results, "time_to_accuracy_ratio").status == Status::mistrusted);
  CHECK(named_comparison(results, "trade_off").status == Status::mistrusted);
  CHECK_THAT(named_comparison(results, "trade_off").reason,
             Catch::Contains("time_to_accuracy_ratio: other work kept 3"));
}

TEST_CASE("two trainings are compared run by run, in quality and time") {
  const auto base = runs("base", {0.90, 0.91, 0.92, 0.91}, {10, 11, 12, 11});
  const auto better = runs("better", {0.96, 0.97, 0.98, 0.97}, {5, 5.5, 6, 5.5});
  const auto results = compare_trainings(better, base);
  const Measurement& time = named_comparison(results, "time_to_accuracy_ratio");
  CHECK(time.samples == std::vector<double>{0.5, 0.5, 0.5, 0.5});
  CHECK(time.conditions.at("verdict") == "lower");
  CHECK(time.conditions.at("base") == "base");
  CHECK(named_comparison(results, "test_accuracy_ratio").conditions.at("verdict") == "higher");
  CHECK(named_comparison(results, "trade_off").samples == std::vector<double>{1});
  CHECK(verdict(better, base) == "better");
  CHECK(verdict(base, better) == "worse");
  CHECK(verdict(base, base) == "undecided");
  CHECK(verdict(runs("slow", {0.96, 0.97, 0.98, 0.97}, {20, 21, 22, 21}), base) == "trade-off");
}

TEST_CASE("the interval beside a verdict is the one that it rests on, and p agrees") {
  // Adam is better by 0.01 with each seed, but seeds differ by more: pairs tell, two means do not.
  const auto base = runs("base", {0.80, 0.85, 0.90, 0.95, 0.99}, {1, 2, 3, 4, 5});
  const auto adam = runs("adam", {0.81, 0.86, 0.91, 0.96, 1.00}, {2, 1, 4, 3, 5});
  for (const Measurement& ratio : compare_trainings(adam, base)) {
    if (ratio.metric == "trade_off") continue;
    CAPTURE(ratio.metric);
    const bool is_accuracy = ratio.metric == "test_accuracy_ratio";
    const auto [value, interval, confidence] = estimate(ratio);
    CHECK(to_string(ratio.statistic) == "mean");
    CHECK(confidence == 0.95);
    CHECK(interval.low < value);
    CHECK((interval.low > 1) == is_accuracy);
    CHECK(interval.high > 1);
    CHECK(ratio.conditions.at("verdict") == (is_accuracy ? "higher" : "undecided"));
    CHECK((condition_number(ratio, "p").value() < 0.05) == is_accuracy);
    CHECK_FALSE(ratio.conditions.contains("rank test p"));
  }
}

TEST_CASE("runs without a number leave no pairs of others' seeds") {
  const auto base = runs("base", {0.90, 0.91, 0.92, 0.93}, {7, 7, 7, 7});
  auto broken = runs("broken", {0.90, 0.91, 0.92, 0.93}, {7, 7, 7, 7});
  broken.runs.records[1][0].samples.clear();
  broken.runs.records[1][0].status = Status::failed;
  const auto results = compare_trainings(broken, base);
  const Measurement& accuracy = named_comparison(results, "test_accuracy_ratio");
  CHECK(accuracy.status == Status::skipped);
  CHECK(accuracy.reason == "1 of 4 runs of broken have no test_accuracy");
  CHECK(accuracy.samples.empty());
  CHECK(accuracy.conditions.at("verdict") == "undecided");
}

TEST_CASE("a verdict that doubts reach says so") {
  const auto base = runs("base", {0.90, 0.91, 0.92}, {7, 7, 7});
  auto subject = runs("adam", {0.96, 0.97, 0.98}, {7, 7, 7});
  CHECK(verdict_of(compare_trainings(subject, base), "adam", "base") ==
        "adam against base: better; test_accuracy higher; time_to_accuracy undecided");
  mistrust(subject.runs.records[0][1], "other work kept 3 of 2 processors busy");
  CHECK_THAT(verdict_of(compare_trainings(subject, base), "adam", "base"),
             Catch::EndsWith("; time_to_accuracy undecided; this verdict is mistrusted"));
}

TEST_CASE("runs that do not vary are undecided where they are equal, and decided where not") {
  const auto base = runs("base", {0.9, 0.9, 0.9}, {7, 7, 7});
  CHECK(verdict(runs("same", {0.9, 0.9, 0.9}, {7, 7, 7}), base) == "undecided");
  CHECK(verdict(runs("better", {0.91, 0.91, 0.91}, {7, 7, 7}), base) == "better");
  CHECK(verdict(runs("slower", {0.9, 0.9, 0.9}, {8, 8, 8}), base) == "worse");
}

TEST_CASE("what lacks a metric is named by what it is: a variant, not its framework") {
  const auto base = runs("momentum", {0.9, 0.9}, {7, 7});
  auto subject = runs("adam", {0.9, 0.9}, {7, 7});
  for (auto& records : subject.runs.records) records[1].samples.clear();
  const auto results = compare_trainings(subject, base);
  const Measurement& time = named_comparison(results, "time_to_accuracy_ratio");
  CHECK(time.status == Status::skipped);
  CHECK(time.reason == "adam has no time_to_accuracy to compare with");
  CHECK(time.conditions.at("base") == "momentum");
}

TEST_CASE("two recipes are trained interleaved; same seed, same bits") {
  std::vector<std::string> lines;
  const auto results =
      test_training(tiny("slow", "0.001"), tiny("quick", "0.05"),
                    {.runs = 2, .say = [&](const std::string& line) { lines.push_back(line); }});
  REQUIRE(lines.size() == 4);
  CHECK_THAT(lines[1], Catch::Contains("quick"));
  CHECK(std::ranges::count(results, "loss", &Measurement::metric) == 2);
  CHECK(std::ranges::count(results, "trade_off", &Measurement::metric) == 1);
  int reproduced = 0;
  for (const auto& result : results) {
    if (result.metric != "reproducibility") continue;
    CHECK(result.samples == std::vector<double>{0});
    ++reproduced;
  }
  CHECK(reproduced == 2);
}

TEST_CASE("curves of several trainings have a line a run, a colour a training") {
  auto first = runs("first", {0.9, 0.8}, {1, 1});
  const auto second = runs("second", {0.7}, {1});
  Measurement loss{.metric = "loss"}, time{.metric = "batch_time"},
      wait{.metric = "dataset_latency"};
  loss.samples = {3, 2, 1};
  time.samples = {1, 1, 1};
  wait.samples = {0.5, 0.5, 0.5};
  for (const auto& record : {loss, time, wait}) first.runs.records[0].push_back(record);
  const Plot accuracy = accuracy_plot({first, second});
  CHECK(accuracy.series == std::vector<std::string>{"first", "second"});
  REQUIRE(accuracy.marks.size() == 3);
  CHECK(accuracy.marks[2].series == 1);
  CHECK(accuracy.marks[1].points[1].x == 2);
  CHECK(accuracy.marks[1].points[1].y == 0.8);
  const Plot losses = loss_plot({first, second});
  REQUIRE(losses.marks.size() == 1);
  REQUIRE(losses.marks[0].points.size() == 3);
  CHECK(losses.marks[0].points[2].x == 4.5);
  CHECK(losses.marks[0].points[2].y == 1);
  for (const Plot& plot : {accuracy, losses}) CHECK(testing::faults_of_texts(plot) == "");
}
