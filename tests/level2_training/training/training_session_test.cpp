// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/training/training_session.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "d5/core/machine/threads.hpp"
#include "d5/level2_training/validation/training_validation.hpp"
#include "tests/busy_processors.hpp"
#include "tests/level2_training/tiny_recipe.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;

TEST_CASE("a recipe runs and becomes one record a metric") {
  std::vector<std::string> lines;
  TrainingSession session(test::tiny_recipe(),
                          {.say = [&](const std::string& line) { lines.push_back(line); }});
  const auto results = session.run();
  CHECK(test::record_of(results, "loss").samples.size() == 3);
  CHECK(test::record_of(results, "test_accuracy").samples.size() == 1);
  CHECK(test::record_of(results, "epoch_time").unit == "s");
  for (const Measurement& result : results) {
    CHECK(result.subject == "tiny");
    CHECK(result.level == "training");
    CHECK(result.command ==
          "d5 train tiny.yaml --framework reference --threads " + std::to_string(d5::threads()));
    // Times are mistrusted where other work is on the machine.
    if (result.quantity != Quantity::time) CHECK(result.status == Status::passed);
  }
  CHECK_THAT(test::record_of(results, "loss").conditions.at("dataset").text(),
             Catch::Contains("sample"));
  std::erase_if(lines, [](const auto& line) { return line.starts_with("warning: other work"); });
  REQUIRE(lines.size() == 2);
  CHECK_THAT(lines[0], Catch::Contains("carries"));
}

TEST_CASE("threads that read ahead change no bit, and are among the conditions") {
  TrainingSession plain(test::tiny_recipe()), ahead(test::tiny_recipe(), {.loader_threads = 3});
  const auto expected = plain.run(), results = ahead.run();
  CHECK(test::weights_of(ahead) == test::weights_of(plain));
  CHECK(test::record_of(results, "loss").samples == test::record_of(expected, "loss").samples);
  CHECK(test::record_of(results, "test_accuracy").samples ==
        test::record_of(expected, "test_accuracy").samples);
  CHECK(test::record_of(results, "loss").conditions.at("loader_threads") == "3");
  CHECK_THAT(test::record_of(results, "loss").command, Catch::Contains(" --loader-threads 3"));
  CHECK_THROWS_AS(TrainingSession(test::tiny_recipe(), {.loader_threads = -1}), ValueError);
}

TEST_CASE("any metric can be asked of a training run, and is measured in the same run") {
  TrainingSession session(test::tiny_recipe(), {.metrics = {"time", "framework_overhead", "loss"}});
  const auto results = session.run();
  CHECK(session.trainer().step() == 3);
  const Measurement& time = test::record_of(results, "time");
  CHECK(time.samples.size() == 1);
  CHECK(time.status == Status::mistrusted);  // one sample
  CHECK(test::record_of(results, "framework_overhead").samples.size() == 1);
  CHECK(std::ranges::count(results, "loss", &Measurement::metric) == 1);
  CHECK(session.trainer().events().empty());
}

TEST_CASE("a record tells seed, learning rate and criterion, also where they are the usual ones") {
  Recipe usual = Recipe::parse(R"(name: usual
fixed:
  dataset: {name: mnist, subset: sample, train_samples: 20, test_samples: 10}
  model: {name: lenet}
  optimizer: {name: sgd}
acceptable: {test_accuracy: {at_least: 0}}
)",
                               "usual.yaml");
  const auto results = TrainingSession(usual, {.data = ""}).run();
  const auto& conditions = test::record_of(results, "test_accuracy").conditions;
  CHECK(conditions.at("accepted") == "at least 0");
  CHECK(conditions.at("seed") == "0");
  CHECK(conditions.at("learning_rate") == "0.01");
  CHECK(conditions.at("optimizer") == "sgd");
  CHECK(conditions.at("batch") == "64");
  CHECK_FALSE(test::record_of(results, "loss").conditions.contains("accepted"));
}

TEST_CASE("the files of a data set are artefacts of what was trained on them") {
  TrainingSession session(test::tiny_recipe());
  const auto results = session.run();
  const auto& artefacts = results.front().artefacts;
  REQUIRE(artefacts.size() == 1 + 4);
  CHECK(artefacts[0].name == "recipe tiny");
  for (const Artefact& one : artefacts) CHECK(one.sha256.size() == 64);
  CHECK_THAT(artefacts[1].name, Catch::StartsWith("train-images-idx3-ubyte"));
  CHECK_THAT(artefacts[4].name, Catch::StartsWith("t10k-labels-idx1-ubyte"));
}

TEST_CASE("training among other work says so after the epoch, and mistrusts its times alone") {
  const testing::BusyProcessors others;
  std::vector<std::string> lines;
  Recipe longer = test::tiny_recipe();
  longer.set("training.epochs=100");  // longer than the 0.1 s that the system's counters need
  TrainingSession session(longer, {.say = [&](const std::string& line) { lines.push_back(line); }});
  const auto results = session.run();
  CHECK(test::record_of(results, "batch_time").status == Status::mistrusted);
  CHECK_THAT(test::record_of(results, "epoch_time").reason, Catch::Contains("other work kept"));
  CHECK(test::record_of(results, "loss").status == Status::passed);
  CHECK(std::ranges::any_of(
      lines, [](const std::string& line) { return line.starts_with("warning: other work kept"); }));
}

TEST_CASE("an interrupt ends a session that opens its data") {
  CHECK_THROWS_AS(TrainingSession(test::tiny_recipe(), {}, {.wished = [] { return true; }}),
                  Interrupted);
}

TEST_CASE("a loss that explodes fails the records and keeps what was seen") {
  Recipe recipe = test::tiny_recipe();
  recipe.set("optimizer.learning_rate=1e30");
  TrainingSession session(recipe);
  const auto results = session.run();
  CHECK(test::record_of(results, "loss").status == Status::failed);
  CHECK_THAT(test::record_of(results, "loss").reason, Catch::Contains("epoch 1 of 1"));
  CHECK_FALSE(test::record_of(results, "loss").samples.empty());
}

TEST_CASE(
    "what an interrupted session measured is kept and mistrusted, what it did not is skipped") {
  struct Stopper final : TrainingEvent {
    std::stop_source stop;
    void after_batch(Trainer&, const Batch&, const ValueMap&) override { stop.request_stop(); }
  };
  const auto stopper = std::make_shared<Stopper>();
  TrainingSession session(test::tiny_recipe("acceptable:\n  test_accuracy: {at_least: 1.1}\n"));
  session.trainer().events().add(stopper);
  const auto results = session.run({.token = stopper->stop.get_token()});
  CHECK(test::record_of(results, "loss").samples.size() == 1);
  CHECK(test::record_of(results, "loss").status == Status::mistrusted);
  CHECK(test::record_of(results, "loss").reason == "interrupted");
  CHECK(test::record_of(results, "test_accuracy").status == Status::skipped);
  CHECK(test::record_of(results, "test_accuracy").reason == "interrupted");
}

TEST_CASE("the same seed gives the same bits, another seed others") {
  const auto results = test_training(test::tiny_recipe());
  CHECK(test::record_of(results, "reproducibility").samples == std::vector<double>{0});
  CHECK(test::record_of(results, "reproducibility").status == Status::passed);

  Recipe other = test::tiny_recipe();
  other.set("training.seed=2");
  TrainingSession first(test::tiny_recipe()), second(other);
  (void)first.run();
  (void)second.run();
  CHECK(test::weights_of(first) != test::weights_of(second));
}

TEST_CASE("a session resumes from its checkpoint, also with more epochs") {
  const testing::TemporaryFolder folder;
  const std::string file = folder / "run.ckpt";
  Recipe longer = test::tiny_recipe();
  longer.set("training.epochs=2");
  TrainingSession whole(longer);
  (void)whole.run();

  Recipe cut = test::tiny_recipe();
  cut.set("training.most_batches=2");
  TrainingSession first(cut, {.checkpoint = file});
  (void)first.run();
  std::vector<std::string> said;
  const auto say = [&](const std::string& line) { said.push_back(line); };
  TrainingSession second(longer, {.resume = file, .say = say});
  const auto results = second.run();
  const auto tells = [&](const std::string& words) {
    return std::ranges::any_of(
        said, [&](const auto& line) { return line.find(words) != std::string::npos; });
  };
  CHECK(tells(file + ": resumed after step 2, in epoch 1"));
  CHECK_FALSE(tells("nothing is left"));
  (void)TrainingSession(cut, {.resume = file, .say = say}).run();
  CHECK(tells("resumed after step 2, in epoch 1; nothing is left to train"));
  CHECK(test::weights_of(second) == test::weights_of(whole));
  CHECK(test::record_of(results, "loss").samples.size() == 6);

  Recipe other = test::tiny_recipe();
  other.set("optimizer.learning_rate=0.01");
  other.set("optimizer.nesterov=true");
  CHECK_THROWS_WITH(
      TrainingSession(other, {.resume = file}),
      Catch::Contains("optimizer.learning_rate: 0.05 in the checkpoint, 0.01 here") &&
          Catch::Contains("optimizer.nesterov: not set in the checkpoint, true here") &&
          !Catch::Contains("training.seed"));
  CHECK_THROWS_AS(TrainingSession(test::tiny_recipe(), {.resume = file, .variant = "ranks=2"}),
                  FormatError);
}
