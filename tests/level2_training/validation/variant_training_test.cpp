// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/validation/variant_training.hpp"

#include <catch2/catch.hpp>
#include <stop_token>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/training/training_session.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;
using Catch::Contains;

namespace {

/// In place of a training: what it was asked for, and an accuracy.
class Trained {
 public:
  std::vector<std::string> runs;

  TrainOnce once() {
    return [this](const TrainingVariant& variant) {
      const auto seed = variant.recipe.training().seed;
      runs.push_back(variant.name + " " + std::to_string(seed));
      return std::vector<Measurement>{{.subject = "fake",
                                       .level = "training",
                                       .metric = "test_accuracy",
                                       .unit = "1",
                                       .direction = Direction::higher_is_better,
                                       .samples = {0.9 + 0.001 * double(seed)}}};
    };
  }
};

std::vector<TrainingVariant> two() {
  return vary(load_recipe("mnist-lenet-quick"), "optimizer.name=adam,momentum");
}

}  // namespace

TEST_CASE("variants are trained interleaved, joined, and compared with the first") {
  Trained trained;
  const auto done = train_variants(two(), trained.once(),
                                   {.repetition = {.runs = 2, .seed = 5}, .compare = true});
  CHECK(trained.runs == std::vector<std::string>{"adam 5", "momentum 5", "adam 6", "momentum 6"});
  REQUIRE(done.joined.size() == 2);
  CHECK(done.joined[0].front().samples.size() == 2);
  CHECK(done.trainings[1].name == "momentum");
  CHECK(done.records.size() > 2);  // the comparison
  CHECK(done.joined[1].front().conditions.at("optimizer.name") == "momentum");
}

TEST_CASE("runs that are kept are not trained again, and others do not go on from them") {
  const testing::TemporaryFolder folder;
  const std::string out = folder / "runs.json";
  Trained trained;
  const auto options = [&](std::int64_t runs, bool resume, const std::string& how = "--seed 1") {
    return VariantTrainingOptions{
        .repetition = {.runs = runs}, .out = out, .resume = resume, .how = how};
  };
  (void)train_variants(two(), trained.once(), options(1, false));
  CHECK(trained.runs.size() == 2);
  const auto more = train_variants(two(), trained.once(), options(2, true));
  CHECK(trained.runs.size() == 4);
  CHECK(more.joined[0].front().samples.size() == 2);
  const Results written = read_results(out);
  CHECK(written.run->pieces.size() == 4);
  CHECK(written.measurements.size() == 4 + more.records.size());
  CHECK_THROWS_WITH(train_variants(two(), trained.once(), options(2, true, "--seed 2")),
                    Contains("--seed 2"));
}

TEST_CASE("the run that an interrupt cuts is not kept") {
  const testing::TemporaryFolder folder;
  std::stop_source stop;
  Trained trained;
  const auto train = [&](const TrainingVariant& variant) {
    if (trained.runs.size() == 1) stop.request_stop();
    return trained.once()(variant);
  };
  const std::string out = folder / "runs.json";
  (void)train_variants(
      two(), train,
      {.repetition = {.runs = 1, .interrupt = {.token = stop.get_token()}}, .out = out});
  CHECK(trained.runs.size() == 2);
  CHECK(read_results(out).run->pieces.size() == 1);
}

TEST_CASE("what is compared is not judged by what its recipe accepts, and says who is better") {
  std::vector<bool> compared;
  const auto train = [&](const TrainingVariant& variant) {
    compared.push_back(variant.recipe.is_compared());
    const double accuracy = variant.name == "adam" ? 0.9 : 0.5;
    const auto seed = double(variant.recipe.training().seed);
    std::vector<Measurement> records{{.subject = "fake",
                                      .level = "training",
                                      .metric = "test_accuracy",
                                      .unit = "1",
                                      .direction = Direction::higher_is_better,
                                      .samples = {accuracy + 0.001 * seed}}};
    judge(records, variant.recipe);
    return records;
  };
  const auto bounded = Recipe::parse(
      "name: b\nfixed:\n  dataset: {name: mnist}\n  model: {name: lenet}\nmutable:\n"
      "  optimizer: {name: sgd}\n  training: {seed: 1}\nacceptable:\n"
      "  test_accuracy: {at_least: 0.8}\n",
      "b.yaml");
  const auto variants = vary(bounded, "optimizer.name=adam,momentum");
  const auto done = train_variants(variants, train, {.repetition = {.runs = 3}, .compare = true});
  CHECK(compared == std::vector<bool>(6, true));
  for (const Measurement& record : done.records) {
    CAPTURE(record.metric, record.reason);
    CHECK(record.status == Status::passed);
  }
  CHECK(done.joined[1].front().conditions.at("accepted") == "at least 0.8, missed by 3 of 3 runs");
  REQUIRE(done.verdicts.size() == 1);
  CHECK(done.verdicts[0] == "momentum against adam: worse; test_accuracy lower");
  // In a repetition alone it is an exam.
  const auto exam = train_variants({variants[1]}, train, {.repetition = {.runs = 3}});
  CHECK(exam.joined[0].front().status == Status::failed);
  CHECK(exam.verdicts.empty());
}
