// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "d5/level2_training/training/training_session.hpp"
#include "tests/level2_training/tiny_recipe.hpp"

using namespace d5;

TEST_CASE("what a recipe accepts says which number is printed") {
  const auto of = [](const std::string& words) {
    TrainingSession session(
        test::tiny_recipe("acceptable:\n  test_accuracy: {at_least: 0" + words + "}\n"));
    return test::record_of(session.run(), "test_accuracy").statistic;
  };
  CHECK(of("") == Statistic{.of = Statistic::Of::last});
  CHECK(of(", of: best") == Statistic{.of = Statistic::Of::best});
  CHECK(of(", of: median") == Statistic{});
}

TEST_CASE("what is judged is the number that is printed, whatever the metric's own statistic") {
  struct Tail final : TrainingMetric {
    std::string name() const override { return "tail"; }
    std::string unit() const override { return "1"; }
    Quantity quantity() const override { return Quantity::other; }
    Statistic statistic() const override { return {.quantile = 0.99}; }
    void after_batch(Trainer&, const Batch&, const ValueMap&) override {
      samples_.push_back(double(samples_.size()));
    }
  };
  const auto result_of = [](const std::string& bound) {
    const auto acceptable =
        test::tiny_recipe("acceptable:\n  test_accuracy: {" + bound + "}\n").acceptable().front();
    Measurement result{.metric = "tail", .statistic = Tail().statistic(), .samples = {0, 1, 9}};
    judge(result, acceptable);
    return result;
  };
  // The metric's own: its 99th percentile is 9. Best is what its direction says: the least.
  CHECK(result_of("at_most: 8").status == Status::failed);
  CHECK(estimate(result_of("at_most: 1, of: median")).value == 1);
  CHECK(result_of("at_most: 1, of: median").status == Status::passed);
  CHECK(result_of("at_least: 1, of: best").status == Status::failed);
  CHECK(estimate(result_of("at_least: 1, of: best")).value == 0);
  CHECK(result_of("at_least: 9, of: maximum").status == Status::passed);
}

TEST_CASE("a metric that misses what is accepted is a failed record") {
  TrainingSession session(test::tiny_recipe("acceptable:\n  test_accuracy: {at_least: 1.1}\n"));
  const auto results = session.run();
  CHECK(test::record_of(results, "test_accuracy").status == Status::failed);
  CHECK_THAT(test::record_of(results, "test_accuracy").reason, Catch::Contains("at least 1.1"));
  CHECK(test::record_of(results, "loss").status == Status::passed);
  CHECK_FALSE(
      run_recipe(test::tiny_recipe("acceptable:\n  test_accuracy: {at_least: 1.1}\n")).accepted);
  CHECK(run_recipe(test::tiny_recipe("acceptable:\n  test_accuracy: {at_least: 0}\n")).accepted);
}
