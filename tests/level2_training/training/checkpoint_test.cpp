// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/training/checkpoint.hpp"

#include <catch2/catch.hpp>
#include <fstream>
#include <limits>

#include "d5/core/files/atomic_file.hpp"
#include "d5/level2_training/optimization/step_modifier.hpp"
#include "d5/level2_training/training/accuracy.hpp"
#include "d5/level2_training/training/loss_curve.hpp"
#include "d5/level2_training/training/trainer.hpp"
#include "tests/level2_training/points.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;

namespace {

void put(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

/// 40 points in batches of 6, so that every epoch has a short tail.
struct Run {
  explicit Run(TrainerOptions options, const std::string& name = "adam", float dropped = 0)
      : optimizer(test::points_optimizer(name, {}, dropped)),
        train(samplers().at("shuffle").make(test::points(40), {{"batch_size", 6}, {"seed", 5}})),
        test(samplers().at("ordered").make(test::points(30, 2), {{"batch_size", 30}})),
        trainer(*optimizer, *train, test.get(), std::move(options)) {
    for (const std::shared_ptr<Event>& event : std::vector<std::shared_ptr<Event>>{
             loss, accuracy, std::make_shared<TimeToAccuracy>(0.5)}) {
      trainer.events().add(event);
    }
  }
  std::shared_ptr<LossCurve> loss = std::make_shared<LossCurve>();
  std::shared_ptr<TrainingAccuracy> accuracy = std::make_shared<TrainingAccuracy>();
  std::shared_ptr<Optimizer> optimizer;
  std::shared_ptr<Sampler> train, test;
  Trainer trainer;
};

}  // namespace

TEST_CASE("a step from which nothing can count on is refused") {
  const testing::TemporaryFolder folder;
  Checkpoint last;
  last.step = std::numeric_limits<std::int64_t>::max();
  write_checkpoint(last, folder / "c");
  CHECK_THROWS_WITH(read_checkpoint(folder / "c"),
                    Catch::Contains("step is '9223372036854775807', expected a number from 0"));
}

TEST_CASE("a checkpoint is read back as it was written, to the bit") {
  const testing::TemporaryFolder folder;
  const Checkpoint checkpoint{
      .recipe = "abc",
      .epoch = 3,
      .batch = 7,
      .step = 1007,
      .tensors = {{"parameter/w \"\x01\xc3\xa9", Tensor::of<float>({2, 2}, {1, -0.0f, 1e-42f, 3})},
                  {"optimizer/step", Tensor::scalar<std::int64_t>(-5)},
                  {"constant/empty", Tensor::empty(DType::float64, {0, 3})},
                  {"metric/m/flags", Tensor::of<bool>({3}, {true, false, true})}}};
  write_checkpoint(checkpoint, folder / "c");
  const Checkpoint read = read_checkpoint(folder / "c");
  CHECK(read.recipe == "abc");
  CHECK(read.epoch == 3);
  CHECK(read.batch == 7);
  CHECK(read.step == 1007);
  REQUIRE(read.tensors.size() == 4);
  for (const auto& [name, value] : checkpoint.tensors) {
    const Tensor& expected = value.tensor();
    const Tensor& given = read.tensors.at(name).tensor();
    REQUIRE(given.desc() == expected.desc());
    CHECK(std::string_view(static_cast<const char*>(given.raw()), given.bytes()) ==
          std::string_view(static_cast<const char*>(expected.raw()), expected.bytes()));
  }
}

TEST_CASE("any byte but 0 that stands for a bool is read as 1") {
  const testing::TemporaryFolder folder;
  Tensor bits = Tensor::zeros(DType::boolean, {3});
  static_cast<std::uint8_t*>(bits.raw())[1] = 2;
  static_cast<std::uint8_t*>(bits.raw())[2] = 255;
  write_checkpoint({.recipe = "r", .tensors = {{"metric/m/flags", bits}}}, folder / "c");
  const Tensor again = read_checkpoint(folder / "c").tensors.at("metric/m/flags").tensor();
  const auto* bytes = static_cast<const std::uint8_t*>(again.raw());
  CHECK(std::vector<int>(bytes, bytes + 3) == std::vector<int>{0, 1, 1});
}

TEST_CASE("every truncation and every flipped bit of a checkpoint is refused") {
  const testing::TemporaryFolder folder;
  write_checkpoint({.recipe = "r", .tensors = {{"parameter/w", Tensor::of<float>({3}, {1, 2, 3})}}},
                   folder / "c");
  const std::string whole = read_file(folder / "c");
  REQUIRE(whole.size() < 1000);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    put(folder / "broken", whole.substr(0, size));
    CHECK_THROWS_AS(read_checkpoint(folder / "broken"), FormatError);
  }
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string broken = whole;
    broken[bit / 8] = char(broken[bit / 8] ^ (1 << (bit % 8)));
    put(folder / "broken", broken);
    CHECK_THROWS_AS(read_checkpoint(folder / "broken"), FormatError);
  }
  put(folder / "broken", whole + "x");
  CHECK_THROWS_WITH(read_checkpoint(folder / "broken"), Catch::Contains("changed"));
}

TEST_CASE("files of other kinds and missing ones are told apart") {
  const testing::TemporaryFolder folder;
  CHECK_THROWS_AS(read_checkpoint(folder / "none"), IoError);
  put(folder / "text", "hello, world, this is no checkpoint");
  CHECK_THROWS_WITH(read_checkpoint(folder / "text"), Catch::Contains("not a checkpoint"));
  put(folder / "json", std::string("\x02\0\0\0\0\0\0\0{}", 10));
  CHECK_THROWS_WITH(read_checkpoint(folder / "json"), Catch::Contains("not a checkpoint of d5"));
  CHECK_THROWS_AS(
      write_checkpoint(
          {.recipe = {}, .tensors = {{"s", Tensor::of<std::string>({1}, {std::string("a")})}}},
          folder / "c"),
      Unsupported);
  CHECK_THROWS_AS(write_checkpoint({}, folder / "no/such/folder/c"), IoError);
}

TEST_CASE("a resumed run ends with the bits of one that was never interrupted") {
  const testing::TemporaryFolder folder;
  for (const std::string name : {"sgd", "momentum", "adam"}) {
    Run whole({.epochs = 3}, name);
    whole.trainer.run();
    for (const std::int64_t interrupted_after : {1, 5, 7, 9, 14, 20}) {
      CAPTURE(name, interrupted_after);
      Run first({.epochs = 3, .most_batches = interrupted_after, .checkpoint = folder / "c"}, name);
      first.trainer.run();
      Run second({.epochs = 3}, name);
      second.trainer.resume(folder / "c");
      CHECK(second.trainer.step() == interrupted_after);
      second.trainer.run();
      CHECK(test::parameters(*second.optimizer) == test::parameters(*whole.optimizer));
      CHECK(second.loss->samples() == whole.loss->samples());
      CHECK(second.accuracy->samples() == whole.accuracy->samples());
    }
  }
}

TEST_CASE("a run that was interrupted leaves a checkpoint, and goes on to the same bits") {
  struct Stopper final : TrainingEvent {
    std::stop_source stop;
    std::int64_t batch = 0;
    void before_batch(Trainer& trainer, const Batch&) override {
      if (trainer.step() == batch) stop.request_stop();
    }
  };
  const testing::TemporaryFolder folder;
  for (const float dropped : {0.0f, 0.5f}) {
    Run whole({.epochs = 3}, "adam", dropped);
    whole.trainer.run();
    for (const std::int64_t batch : {0, 4, 6, 15}) {
      CAPTURE(dropped, batch);
      Run first({.epochs = 3, .checkpoint = folder / "c"}, "adam", dropped);
      const auto stopper = std::make_shared<Stopper>();
      stopper->batch = batch;
      first.trainer.events().add(stopper);
      first.trainer.run({.token = stopper->stop.get_token()});
      // With a checkpoint the batch is completed first, so that its state is consistent.
      CHECK(first.trainer.interrupted());
      CHECK(first.trainer.step() == batch + 1);
      Run second({.epochs = 3}, "adam", dropped);
      second.trainer.resume(folder / "c");
      CHECK(second.trainer.step() == batch + 1);
      second.trainer.run();
      CHECK(test::parameters(*second.optimizer) == test::parameters(*whole.optimizer));
      CHECK(second.loss->samples() == whole.loss->samples());
      CHECK(second.accuracy->samples() == whole.accuracy->samples());
    }
  }
}

TEST_CASE("a run that was interrupted within a test run goes on to the same bits") {
  struct Stopper final : TrainingEvent {
    std::stop_source stop;
    void after_test_batch(Trainer&, const Batch&, const ValueMap&) override { stop.request_stop(); }
  };
  const testing::TemporaryFolder folder;
  const auto train = samplers().at("shuffle").make(test::points(40), {{"batch_size", 8}});
  const auto tested = samplers().at("ordered").make(test::points(30, 2), {{"batch_size", 10}});
  const auto whole = test::points_optimizer("adam", {}, 0.5F);
  Trainer(*whole, *train, tested.get(), {.epochs = 2}).run();

  const auto first = test::points_optimizer("adam", {}, 0.5F);
  Trainer begun(*first, *train, tested.get(), {.epochs = 2, .checkpoint = folder / "c"});
  const auto stopper = std::make_shared<Stopper>();
  begun.events().add(stopper);
  begun.run({.token = stopper->stop.get_token()});
  CHECK(begun.interrupted());
  CHECK(begun.step() == 5);

  const auto second = test::points_optimizer("adam", {}, 0.5F);
  Trainer rest(*second, *train, tested.get(), {.epochs = 2});
  rest.resume(folder / "c");
  rest.run();
  CHECK(test::parameters(*second) == test::parameters(*whole));
}

TEST_CASE("a resumed run drops the values that an uninterrupted one drops") {
  const testing::TemporaryFolder folder;
  Run whole({.epochs = 3}, "sgd", 0.5f);
  whole.trainer.run();
  Run first({.epochs = 3, .most_batches = 9, .checkpoint = folder / "c"}, "sgd", 0.5f);
  first.trainer.run();
  Run second({.epochs = 3}, "sgd", 0.5f);
  second.trainer.resume(folder / "c");
  second.trainer.run();
  CHECK(test::parameters(*second.optimizer) == test::parameters(*whole.optimizer));
}

TEST_CASE("a finished run that is resumed does nothing more") {
  const testing::TemporaryFolder folder;
  Run first({.epochs = 2, .checkpoint = folder / "c"});
  first.trainer.run();
  Run second({.epochs = 2});
  second.trainer.resume(folder / "c");
  second.trainer.run();
  CHECK(second.trainer.step() == first.trainer.step());
  CHECK(test::parameters(*second.optimizer) == test::parameters(*first.optimizer));
}

TEST_CASE("a checkpoint of another recipe, network or optimizer is refused and changes nothing") {
  const testing::TemporaryFolder folder;
  Run first({.epochs = 1, .checkpoint = folder / "c", .recipe = "one"});
  first.trainer.run();

  Run other({.epochs = 1, .recipe = "two"});
  const auto before = test::parameters(*other.optimizer);
  CHECK_THROWS_WITH(other.trainer.resume(folder / "c"), Catch::Contains("another recipe"));
  CHECK(test::parameters(*other.optimizer) == before);

  Run momentum({.epochs = 1, .recipe = "one"}, "momentum");
  CHECK_THROWS_AS(momentum.trainer.resume(folder / "c"), NotFound);
  CHECK(test::parameters(*momentum.optimizer) == before);

  Checkpoint fewer = read_checkpoint(folder / "c");
  fewer.tensors.erase("parameter/b1");
  write_checkpoint(fewer, folder / "fewer");
  Run third({.epochs = 1, .recipe = "one"});
  CHECK_THROWS_WITH(third.trainer.resume(folder / "fewer"), Catch::Contains("3 parameters"));
  fewer.tensors["parameter/b1"] = Tensor::of<float>({1}, {0});
  write_checkpoint(fewer, folder / "fewer");
  CHECK_THROWS_WITH(third.trainer.resume(folder / "fewer"), Catch::Contains("'b1'"));
  CHECK(test::parameters(*third.optimizer) == before);
}

TEST_CASE("a checkpoint is not resumed with another order, batch size or learning rate") {
  const testing::TemporaryFolder folder;
  const auto optimizer = test::points_optimizer("adam");
  const auto sampler = [](const Settings& settings, std::int64_t points = 40) {
    return samplers().at("shuffle").make(test::points(points), settings);
  };
  const auto train = sampler({{"batch_size", 8}, {"seed", 5}});
  Trainer(*optimizer, *train, nullptr).save_checkpoint(folder / "c");

  const auto words = [&](const std::shared_ptr<Sampler>& other, Optimizer& by) {
    Trainer trainer(by, *other, nullptr);
    try {
      trainer.resume(folder / "c");
    } catch (const FormatError& error) {
      return std::string(error.what());
    }
    return std::string("resumed");
  };
  CHECK(words(train, *optimizer) == "resumed");
  CHECK_THAT(words(sampler({{"batch_size", 4}, {"seed", 5}}), *optimizer),
             Catch::Contains("sampler.batch_size: 8 in the checkpoint, 4 here"));
  CHECK_THAT(words(sampler({{"batch_size", 8}, {"seed", 6}}), *optimizer),
             Catch::Contains("sampler.seed: 5 in the checkpoint, 6 here"));
  CHECK_THAT(words(sampler({{"batch_size", 8}, {"seed", 5}, {"tail", "drop"}}), *optimizer),
             Catch::Contains("sampler.tail: keep in the checkpoint, drop here"));
  CHECK_THAT(words(sampler({{"batch_size", 8}, {"seed", 5}}, 48), *optimizer),
             Catch::Contains("sampler.samples: 40 in the checkpoint, 48 here"));
  const auto faster = test::points_optimizer("adam", {{"learning_rate", 0.5}});
  CHECK_THAT(words(train, *faster),
             Catch::Contains("optimizer.learning_rate: 0.001 in the checkpoint, 0.5 here"));

  CHECK_THAT(
      words(samplers().at("ordered").make(test::points(40), {{"batch_size", 8}, {"seed", 5}}),
            *optimizer),
      Catch::Contains("sampler.order of the first epoch"));
  const auto decayed = test::points_optimizer("adamw", {{"weight_decay", 0.0}});
  CHECK_THAT(words(train, *decayed), Catch::Contains("optimizer: ElementOptimizer<Adam"));

  // Files from before these settings were kept are resumed as they were.
  Checkpoint older = read_checkpoint(folder / "c");
  older.tensors.erase("settings");
  write_checkpoint(older, folder / "c");
  CHECK(words(train, *faster) == "resumed");
}

TEST_CASE("a checkpoint is not resumed with another schedule or modifier") {
  const testing::TemporaryFolder folder;
  const auto train = samplers().at("shuffle").make(test::points(40), {{"batch_size", 8}});
  const auto optimizer = [](const Settings& settings) {
    return open_optimizer("sgd", make_executor(test::points_network()), "loss", settings);
  };
  const auto cosine = [&](std::int64_t length, const std::string& every = "step") {
    return optimizer({{"schedules.learning_rate.name", "cosine"},
                      {"schedules.learning_rate.length", length},
                      {"schedules.learning_rate.every", every}});
  };
  const auto clipped = [&](double most) {
    return optimizer({{"modifiers.0.name", "clip_norm"}, {"modifiers.0.most", most}});
  };
  const auto begin = [&](const std::shared_ptr<Optimizer>& first) {
    Trainer trainer(*first, *train, nullptr);
    trainer.run();
    trainer.save_checkpoint(folder / "c");
  };
  const auto resume = [&](const std::shared_ptr<Optimizer>& second) {
    Trainer(*second, *train, nullptr).resume(folder / "c");
  };
  begin(cosine(10));
  CHECK_NOTHROW(resume(cosine(10)));
  CHECK_THROWS_WITH(resume(cosine(1000)),
                    Catch::Contains("schedule cosine of learning_rate: it was") &&
                        Catch::Contains("in step 4 before the checkpoint"));
  CHECK_THROWS_WITH(resume(cosine(10, "epoch")), Catch::Contains("here its time counts epochs"));
  begin(clipped(0.1));
  CHECK_NOTHROW(resume(clipped(0.1)));
  CHECK_THROWS_WITH(resume(clipped(100)),
                    Catch::Contains("clip_norm: 'most: 0.1' before the checkpoint, 'most: 100'"));
}

TEST_CASE("a checkpoint that cannot be written ends training with the reason") {
  Run run({.epochs = 1, .checkpoint = "/nonexistent/folder/c"});
  CHECK_THROWS_AS(run.trainer.run(), IoError);
}
