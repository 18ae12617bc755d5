// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>
#include <chrono>
#include <limits>
#include <thread>

#include "d5/core/errors/error.hpp"
#include "d5/core/results/measurement.hpp"
#include "d5/level2_training/training/accuracy.hpp"
#include "d5/level2_training/training/dataset_metrics.hpp"
#include "d5/level2_training/training/loss_curve.hpp"
#include "d5/level2_training/training/trainer.hpp"
#include "d5/level2_training/training/training_time.hpp"
#include "tests/level2_training/points.hpp"
#include "tests/level2_training/scripted_training.hpp"

using namespace d5;

TEST_CASE("training separates the points, and the metrics say so") {
  const auto optimizer =
      test::points_optimizer("momentum", Settings("momentum", {{"learning_rate", "0.1"}}));
  const auto train = test::points_sampler(150, 10), test = test::points_sampler(60, 25, "ordered");
  Trainer trainer(*optimizer, *train, test.get(), {.epochs = 5});
  const auto training = std::make_shared<TrainingAccuracy>();
  const auto tested = std::make_shared<TestAccuracy>();
  const auto loss = std::make_shared<LossCurve>();
  const auto time = std::make_shared<TimeToAccuracy>(0.9);
  const auto epoch_time = std::make_shared<EpochTime>();
  const auto batch_time = std::make_shared<BatchTime>();
  const auto latency = std::make_shared<DatasetLatency>();
  for (const std::shared_ptr<Event>& event : std::vector<std::shared_ptr<Event>>{
           training, tested, loss, time, epoch_time, batch_time, latency}) {
    trainer.events().add(event);
  }
  trainer.run();
  CHECK(trainer.step() == 75);
  REQUIRE(tested->samples().size() == 5);
  CHECK(tested->samples().back() > 0.95);
  REQUIRE(training->samples().size() == 5);
  CHECK(training->samples().back() > training->samples().front());
  REQUIRE(loss->samples().size() == 75);
  CHECK(loss->samples().front() > 3 * loss->samples().back());
  CHECK(time->samples().size() == 1);
  REQUIRE(epoch_time->samples().size() == 5);
  REQUIRE(batch_time->samples().size() == 75);
  REQUIRE(latency->samples().size() == 75);
  double batches = 0, epochs = 0;
  for (const double seconds : batch_time->samples()) batches += seconds;
  for (const double seconds : latency->samples()) batches += seconds;
  for (const double seconds : epoch_time->samples()) epochs += seconds;
  constexpr double kClock = 1e-9;  // s that the sums may round
  CHECK(batches <= epochs + kClock);
}

namespace {

/// An observer that takes its time at every hook.
struct Slow final : TrainingEvent {
  void before_batch(Trainer&, const Batch&) override { idle(); }
  void after_batch(Trainer&, const Batch&, const ValueMap&) override { idle(); }
  static void idle() { std::this_thread::sleep_for(std::chrono::milliseconds(20)); }
};

}  // namespace

TEST_CASE("the clock of a batch does not see the observers, in whatever order they stand") {
  for (const bool slow_first : {true, false}) {
    test::ScriptedTraining run({3, 2, 1});
    const auto batch_time = std::make_shared<BatchTime>();
    const auto latency = std::make_shared<DatasetLatency>();
    const auto epoch_time = std::make_shared<EpochTime>();
    if (slow_first) run.trainer.events().add(std::make_shared<Slow>());
    for (const std::shared_ptr<Event>& event :
         std::vector<std::shared_ptr<Event>>{batch_time, latency, epoch_time}) {
      run.trainer.events().add(event);
    }
    if (!slow_first) run.trainer.events().add(std::make_shared<Slow>());
    run.trainer.run();
    REQUIRE(batch_time->samples().size() == 3);
    double sum = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      // A step of a scripted executor and a batch of points take microseconds; one hook takes 20
      // ms.
      sum += batch_time->samples()[i] + latency->samples()[i];
    }
    CHECK(sum < 3 * 0.02);
    CHECK(epoch_time->samples().at(0) == Approx(sum));
  }
}

TEST_CASE("a target that is not reached is a failed measurement with the best accuracy") {
  const auto optimizer = test::points_optimizer("sgd", Settings("", {{"learning_rate", "0"}}));
  const auto train = test::points_sampler(30, 10), test = test::points_sampler(30, 10);
  Trainer trainer(*optimizer, *train, test.get());
  const auto time = std::make_shared<TimeToAccuracy>(1.0);
  trainer.events().add(time);
  trainer.run();
  Measurement result;
  time->summarise(result);
  CHECK(result.status == Status::failed);
  CHECK_THAT(result.reason, Catch::Contains("not reached"));
  CHECK_THROWS_AS(TimeToAccuracy(1.5), ValueError);
}

TEST_CASE("training can end where the target is reached") {
  const auto optimizer = test::points_optimizer("sgd");
  const auto train = test::points_sampler(30, 10), test = test::points_sampler(30, 10);
  Trainer trainer(*optimizer, *train, test.get(), {.epochs = 1000});
  trainer.events().add(
      std::make_shared<TimeToAccuracy>(0.8, ClassificationNames{}, TimeToAccuracy::Then::stop));
  trainer.run();
  CHECK(trainer.epoch() < 500);
}

TEST_CASE("the loss curve holds every batch's loss") {
  test::ScriptedTraining run({3, 2, 1});
  const auto loss = std::make_shared<LossCurve>();
  run.trainer.events().add(loss);
  run.trainer.run();
  CHECK(loss->samples() == std::vector<double>{3, 2, 1});
}

TEST_CASE("accuracy counts rows whose largest score is at their label") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor scores = Tensor::of<float>({5, 3}, {1, 2, 0,     // 1
                                                   5, 5, 0,     // the first of equals: 0
                                                   -3, -2, -1,  // 2
                                                   0, nan, 0,   // never right
                                                   9, 0, 0});   // 0
  CHECK(count_right(scores, Tensor::vector<std::int64_t>({1, 0, 2, 1, 1})) == 3);
  CHECK(count_right(scores, Tensor::vector<std::int32_t>({1, 1, 2, 0, 0})) == 3);
  CHECK_THROWS_AS(count_right(scores, Tensor::vector<std::int64_t>({1, 0, 2, 1})), ShapeError);
  CHECK_THROWS_AS(count_right(scores, Tensor::vector<float>({1, 0, 2, 1, 1})), TypeError);
}

TEST_CASE("the bias of the data is the share of each class") {
  test::ScriptedTraining run({1, 1, 1});
  const auto bias = std::make_shared<DatasetBias>();
  run.trainer.events().add(bias);
  run.trainer.run();
  Measurement result;
  bias->summarise(result);
  REQUIRE(result.samples.size() == 3);
  for (const double share : result.samples) CHECK(share == Approx(2.0 / 6));
}

TEST_CASE("a metric that looks for a name that is not there says what there is") {
  test::ScriptedTraining run({1, 1, 1});
  run.trainer.events().add(std::make_shared<TrainingAccuracy>());
  CHECK_THROWS_WITH(run.trainer.run(),
                    Catch::Contains("logits") && Catch::Contains("none is known"));
}
