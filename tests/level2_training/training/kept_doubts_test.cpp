// SPDX-License-Identifier: Apache-2.0
// Doubts about what was measured before an interruption.
#include <catch2/catch.hpp>
#include <filesystem>

#include "d5/level2_training/training/checkpoint.hpp"
#include "d5/level2_training/training/training_session.hpp"
#include "d5/level2_training/training/training_time.hpp"
#include "level2_training/training/late_doubts.hpp"
#include "tests/busy_processors.hpp"
#include "tests/core/subjects.hpp"
#include "tests/level2_training/points.hpp"
#include "tests/level2_training/tiny_recipe.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;

namespace {

/// Makes the second batch long enough for the system's counters.
struct LongBatch final : TrainingEvent {
  void after_batch(Trainer& trainer, const Batch&, const ValueMap&) override {
    if (trainer.step() == 2) testing::wait(0.3);
  }
};

struct TimedTraining {
  explicit TimedTraining(TrainerOptions options)
      : optimizer(test::points_optimizer("sgd")),
        train(samplers().at("ordered").make(test::points(40), {{"batch_size", 10}})),
        trainer(*optimizer, *train, nullptr, std::move(options)) {
    trainer.events().add(times);
  }
  std::shared_ptr<BatchTime> times = std::make_shared<BatchTime>();
  std::shared_ptr<Optimizer> optimizer;
  std::shared_ptr<Sampler> train;
  Trainer trainer;
};

}  // namespace

TEST_CASE("reasons to mistrust samples go with them, through checkpoint after checkpoint") {
  const testing::TemporaryFolder folder;
  TimedTraining first({.epochs = 1, .checkpoint = folder / "c"});
  first.times->doubt("other work kept 3.0 of 2 processors busy");
  first.times->doubt("a name with a \x1b in it");
  first.trainer.run();
  CHECK(read_checkpoint(folder / "c").tensors.contains("metric/batch_time/doubts"));

  TimedTraining second({.epochs = 2, .checkpoint = folder / "c"});
  second.trainer.resume(folder / "c");
  second.trainer.run();
  TimedTraining third({.epochs = 2});
  third.trainer.resume(folder / "c");
  third.trainer.run();  // nothing is left to train
  CHECK(third.times->samples().size() == 8);
  const auto& doubts = third.times->doubts();
  CHECK(std::ranges::find(doubts, "other work kept 3.0 of 2 processors busy") != doubts.end());
  for (const auto& doubt : doubts) CHECK(doubt.find('\x1b') == std::string::npos);
}

TEST_CASE("a metric that is added later has no doubts of the others") {
  const testing::TemporaryFolder folder;
  TimedTraining first({.epochs = 1, .checkpoint = folder / "c"});
  first.times->doubt("other work");
  first.trainer.run();
  TimedTraining second({.epochs = 1});
  const auto epochs = std::make_shared<EpochTime>();
  second.trainer.events().add(epochs);
  second.trainer.resume(folder / "c");
  second.trainer.run();
  CHECK(second.times->doubts().size() >= 1);
  CHECK(epochs->doubts().empty());
}

TEST_CASE("what the machine did before a checkpoint is doubted after it") {
  const testing::TemporaryFolder folder;
  {
    const testing::BusyProcessors others;
    TimedTraining first({.epochs = 1, .checkpoint = folder / "c"});
    first.trainer.events().add(std::make_shared<LongBatch>());
    first.trainer.run();
  }
  TimedTraining second({.epochs = 1});
  second.trainer.resume(folder / "c");
  second.trainer.run();
  REQUIRE_FALSE(second.times->doubts().empty());
  CHECK_THAT(second.times->doubts().front(), Catch::StartsWith("until step 4: other work kept"));
}

TEST_CASE("times that were mistrusted stay so where nothing is left to train") {
  const testing::TemporaryFolder folder;
  Recipe recipe = test::tiny_recipe();
  recipe.set("training.epochs=100");
  {
    const testing::BusyProcessors others;
    TrainingSession first(recipe, {.checkpoint = folder / "c"});
    CHECK(test::record_of(first.run(), "batch_time").status == Status::mistrusted);
  }
  TrainingSession second(recipe, {.resume = folder / "c"});
  const auto results = second.run();
  for (const char* metric : {"batch_time", "epoch_time"}) {
    CHECK(test::record_of(results, metric).status == Status::mistrusted);
    CHECK_THAT(test::record_of(results, metric).reason, Catch::Contains(": other work kept"));
  }
  CHECK(test::record_of(results, "loss").status == Status::passed);
}

TEST_CASE("a doubt that arises behind the last checkpoint is in it as well, once") {
  const testing::TemporaryFolder folder;
  const std::string file = folder / "c";
  Checkpoint checkpoint;
  checkpoint.step = 7;
  write_checkpoint(checkpoint, file);
  Measurement time{.metric = "batch_time", .quantity = Quantity::time}, loss{.metric = "loss"};
  detail::keep_late_doubts(file, {time, loss});
  CHECK(read_checkpoint(file).tensors.empty());
  mistrust(time, "the processor's speed changed");
  mistrust(loss, "drawn");  // no doubt about the machine
  detail::keep_late_doubts(file, {time, loss});
  mistrust(time, "once more");
  detail::keep_late_doubts(file, {time, loss});
  const auto kept = read_checkpoint(file).tensors;
  REQUIRE(kept.size() == 1);
  const auto text = kept.at("metric/batch_time/doubts").tensor().span<std::uint8_t>();
  CHECK(std::string(text.begin(), text.end()) == "until step 7: the processor's speed changed");
  detail::keep_late_doubts(folder / "none", {time});
  CHECK_FALSE(std::filesystem::exists(folder / "none"));
}
