// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>

#include "d5/core/results/results.hpp"
#include "d5/level2_training/training/recipe.hpp"
#include "tests/apps/training_job.hpp"

using namespace d5;
using Catch::Contains;
using d5::testing::run_d5;
using testing::TrainingJob;

TEST_CASE("variants are trained interleaved, compared with the first, and drawn") {
  const TrainingJob job;
  const auto run =
      run_d5(job.train("runs.json") + " --vary optimizer.name=momentum,sgd --repeat 2 --pictures " +
             (job / "pictures"));
  REQUIRE(run.status == 0);
  const Results results = read_results(job / "runs.json");
  REQUIRE(results.run->pieces.size() == 4);
  CHECK_THAT(results.run->pieces[1].name, Contains("momentum") && Contains("seed 2"));
  const auto is_verdict = [](const Measurement& m) { return m.metric == "trade_off"; };
  const auto verdict = std::ranges::find_if(results.measurements, is_verdict);
  REQUIRE(verdict != results.measurements.end());
  CHECK(verdict->conditions.at("base") == "momentum");
  CHECK(verdict->conditions.at("optimizer.name") == "sgd");
  for (const char* picture : {"accuracy-over-epochs.svg", "loss-over-time.svg"}) {
    CHECK_THAT(testing::content_of(job / ("pictures/" + std::string(picture))),
               Contains("<svg") && Contains("sgd"));
  }
  for (const char* plot : {"test_accuracy-over-seeds", "accuracy-over-epochs", "loss-over-time"}) {
    const auto drawn = run_d5("report '" + (job / "runs.json") + "' --format svg --plot " + plot);
    CHECK(drawn.status == 0);
    CHECK_THAT(drawn.out, Contains("<svg") && Contains("momentum") && Contains("sgd"));
  }
}

TEST_CASE("trials are points of the recipe's ranges, and the best is reported") {
  const TrainingJob job(
      {.sections = "ranges:\n  optimizer.learning_rate: {least: 0.01, most: 0.03}\n"});
  const auto run = run_d5("train '" + job.recipe() + "' --trials 2 --quiet");
  CHECK(run.status == 0);
  CHECK_THAT(run.out,
             Contains("best of 2 trials") && Contains("--set optimizer.learning_rate=0.0"));
  const TrainingJob plain;
  CHECK_THAT(run_d5(plain.train("no.json") + " --trials 2").err, Contains("ranges"));
}

TEST_CASE("a variant that only ranks would tell apart is noted on one rank") {
  const TrainingJob job({.training = "epochs: 1, most_batches: 1"});
  const auto run =
      run_d5(job.train("runs.json") + " --vary distributed.all_reduce=ring,double_tree");
  CHECK(run.status == 0);
  CHECK_THAT(run.err, Contains("note: distributed.all_reduce has no effect on one rank"));
  const auto other = run_d5(job.train("other.json") + " --vary optimizer.name=momentum,sgd");
  CHECK_THAT(other.err, !Contains("no effect"));
}

TEST_CASE("report prints repeated trainings as train does, each with its values above") {
  const TrainingJob job({.training = "epochs: 1, most_batches: 2"});
  const auto run =
      run_d5(job.train("runs.json") + " --vary optimizer.name=momentum,sgd --repeat 2");
  REQUIRE(run.status == 0);
  const auto report = run_d5("report '" + (job / "runs.json") + "'");
  CHECK(report.status == 0);
  const std::string tables = run.out.substr(0, run.out.find("\nsgd against momentum"));
  CHECK_THAT(report.out, Catch::EndsWith(tables));
  // Metric and statistics stand together, and no record takes several lines.
  CHECK_THAT(report.out, Contains("metric") && !Contains("\n  "));
}

TEST_CASE("a reference is written into the recipe, and later runs are held against it") {
  const TrainingJob job({.training = "epochs: 1, most_batches: 1",
                         .sections = "  metrics:\n    samples_to_accuracy: {target: 0.001}\n"});
  REQUIRE(run_d5("train '" + job.recipe() + "' --quiet --make-reference").status == 0);
  const Recipe recipe = load_recipe(job.recipe());
  CHECK(recipe.reference().at("samples_to_accuracy") == std::vector<double>(10, 32.0));
  const auto again = run_d5(job.train("again.json") + " --repeat 2");
  CHECK(again.status == 0);
  const Results results = read_results(job / "again.json");
  const auto is_reference = [](const Measurement& m) {
    return m.conditions.contains("reference_mean");
  };
  const auto held = std::ranges::find_if(results.measurements, is_reference);
  REQUIRE(held != results.measurements.end());
  CHECK(held->metric == "samples_to_accuracy");
  CHECK(held->conditions.at("reference_mean") == "32");
}

TEST_CASE("options that exclude each other are refused before anything is trained") {
  const TrainingJob job;
  const auto unmeasured = run_d5("train '" + job.recipe() + "' --make-reference");
  CHECK(unmeasured.status == 2);
  CHECK_THAT(unmeasured.err, Contains("samples_to_accuracy: {target") && !Contains("run 1 of"));
  const auto refusal = [&](const std::string& options) {
    const auto run = run_d5(job.train("runs.json") + options);
    CHECK(run.status == 2);
    return run.err;
  };
  CHECK_THAT(refusal(" --vary optimizer.name=adam"), Contains("two values"));
  CHECK_THAT(refusal(" --vary dataset.name=mnist,cifar-10"), Contains("fixed"));
  CHECK_THAT(refusal(" --vary training.seed=1,2 --trials 2"), Contains("give one"));
  CHECK_THAT(refusal(" --make-reference --repeat 3"), Contains("10"));
  CHECK_THAT(refusal(" --make-reference --set training.seed=3"), Contains("--set"));
}

TEST_CASE("a comparison makes every run and prints its verdict, whatever the recipe accepts") {
  const TrainingJob job({.training = "epochs: 1, most_batches: 2",
                         .sections = "acceptable:\n  test_accuracy: {at_least: 0.999}\n"});
  const auto run =
      run_d5(job.train("runs.json") + " --vary optimizer.name=momentum,sgd --repeat 3");
  CHECK(run.status == 0);
  CHECK_THAT(run.out, Contains("sgd against momentum: "));
  const Results results = read_results(job / "runs.json");
  CHECK(results.run->pieces.size() == 6);
  // Behind the records of each run stand those of all runs of a variant.
  const auto joined = std::ranges::count_if(results.measurements, [](const Measurement& m) {
    return m.metric == "test_accuracy" &&
           condition_of(m, "accepted") == "at least 0.999, missed by 3 of 3 runs";
  });
  CHECK(joined == 2);
  // On its own it is judged, and a second run that misses ends it.
  const auto alone = run_d5(job.train("alone.json") + " --repeat 3");
  CHECK(alone.status == 1);
  CHECK(read_results(job / "alone.json").run->pieces.size() == 2);
}
