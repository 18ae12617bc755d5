// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/trainer.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <limits>
#include <thread>

#include "d5/core/measurement.hpp"
#include "d5/level1_network/execution_event.hpp"
#include "d5/level2_training/accuracy.hpp"
#include "d5/level2_training/dataset_metrics.hpp"
#include "d5/level2_training/loss_curve.hpp"
#include "d5/level2_training/training_time.hpp"
#include "points.hpp"
#include "scripted_executor.hpp"

using namespace d5;

namespace {

std::shared_ptr<Sampler> sampler(std::int64_t count, std::int64_t batch_size,
                                 const std::string& order = "shuffle") {
  return samplers().at(order).make(test::points(count), {{"batch_size", batch_size}, {"seed", 3}});
}

/// Writes down what happens, a letter an event.
struct Diary final : TrainingEvent {
  std::string text;
  std::int64_t stop_after = std::numeric_limits<std::int64_t>::max();
  std::int64_t batches = 0;
  void before_training(Trainer&) override { text += "("; }
  void after_training(Trainer&) override { text += ")"; }
  void before_epoch(Trainer&, std::int64_t) override { text += "["; }
  void after_epoch(Trainer&, std::int64_t) override { text += "]"; }
  void before_batch(Trainer&, const Batch&) override { text += "b"; }
  void after_batch(Trainer&, const Batch&, const ValueMap&) override {
    text += "a";
    ++batches;
  }
  void before_test(Trainer&) override { text += "<"; }
  void after_test_batch(Trainer&, const Batch&, const ValueMap&) override { text += "t"; }
  void after_test(Trainer&) override { text += ">"; }
  bool wants_stop() const override { return batches >= stop_after; }
};

std::string diary_of(TrainerOptions options, std::int64_t stop_after = 1000) {
  const auto optimizer = test::points_optimizer("sgd");
  const auto train = sampler(5, 2), test = sampler(3, 2);
  Trainer trainer(*optimizer, *train, test.get(), options);
  const auto diary = std::make_shared<Diary>();
  diary->stop_after = stop_after;
  trainer.events().add(diary);
  trainer.run();
  return diary->text;
}

/// A trainer whose steps have the given losses.
struct Scripted {
  explicit Scripted(std::vector<double> losses, TrainerOptions options = {})
      : optimizer(optimizers().at("sgd").make(
            std::make_unique<test::ScriptedExecutor>(
                std::vector<std::pair<std::string, Tensor>>{{"w", Tensor::of<double>({1}, {1})}},
                [losses](Network&, std::int64_t step) { return losses.at(std::size_t(step)); }),
            "loss", Settings("sgd"))),
        train(sampler(6, 2)),
        trainer(*optimizer, *train, nullptr, options) {}
  std::shared_ptr<Optimizer> optimizer;
  std::shared_ptr<Sampler> train;
  Trainer trainer;
};

}  // namespace

TEST_CASE("events come in order: epochs around batches, a test run after each") {
  CHECK(diary_of({.epochs = 2}) == "([bababa<tt>][bababa<tt>])");
  CHECK(diary_of({.epochs = 0}) == "()");
}

TEST_CASE("a run that ends within an epoch still has its test run") {
  CHECK(diary_of({.epochs = 2, .most_batches = 4}) == "([bababa<tt>][ba<tt>])");
  CHECK(diary_of({.epochs = 2, .most_batches = 3}) == "([bababa<tt>])");
  CHECK(diary_of({.epochs = 2}, 2) == "([baba<tt>])");
}

namespace {

/// Asks for a stop after some batches, test batches or nodes.
struct Stopper final : TrainingEvent, ExecutionEvent {
  std::stop_source stop;
  int batches = -1, test_batches = -1, nodes = -1;
  void after_batch(Trainer&, const Batch&, const ValueMap&) override { count(batches); }
  void after_test_batch(Trainer&, const Batch&, const ValueMap&) override { count(test_batches); }
  void after_node(const StepInfo&) override { count(nodes); }
  void count(int& left) {
    if (--left == 0) stop.request_stop();
  }
};

std::string interrupted_diary(const std::shared_ptr<Stopper>& stopper) {
  const auto optimizer = test::points_optimizer("sgd");
  const auto train = sampler(5, 2), test = sampler(3, 2);
  Trainer trainer(*optimizer, *train, test.get(), {.epochs = 2});
  const auto diary = std::make_shared<Diary>();
  trainer.events().add(diary);
  trainer.events().add(stopper);
  optimizer->executor().events().add(stopper);
  trainer.run({.token = stopper->stop.get_token()});
  CHECK(trainer.interrupted());
  // What is left over must not end the next run.
  diary->text += " ";
  trainer.run();
  CHECK_FALSE(trainer.interrupted());
  return diary->text;
}

}  // namespace

TEST_CASE("an interrupt ends a run between two batches, without a test run, and the next goes on") {
  const auto stopper = std::make_shared<Stopper>();
  stopper->batches = 2;
  CHECK(interrupted_diary(stopper) == "([baba) (ba<tt>][bababa<tt>])");
}

TEST_CASE("an interrupt ends a test run, whose epoch ends in the next run") {
  const auto stopper = std::make_shared<Stopper>();
  stopper->test_batches = 1;
  CHECK(interrupted_diary(stopper) == "([bababa<t) (<tt>][bababa<tt>])");
}

TEST_CASE("an interrupt ends a run within a batch, which is then as if it had not begun") {
  const auto stopper = std::make_shared<Stopper>();
  stopper->nodes = 1;
  CHECK(interrupted_diary(stopper) == "([b) ([bababa<tt>][bababa<tt>])");
}

TEST_CASE("a deadline that has passed ends a run before its first batch") {
  const auto optimizer = test::points_optimizer("sgd");
  const auto train = sampler(5, 2);
  Trainer trainer(*optimizer, *train, nullptr);
  trainer.run({.deadline = 0});
  CHECK(trainer.interrupted());
  CHECK(trainer.step() == 0);
}

TEST_CASE("training separates the points, and the metrics say so") {
  const auto optimizer =
      test::points_optimizer("momentum", Settings("momentum", {{"learning_rate", "0.1"}}));
  const auto train = sampler(150, 10), test = sampler(60, 25, "ordered");
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
  CHECK(batches <= epochs);
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
    Scripted run({3, 2, 1});
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
  const auto train = sampler(30, 10), test = sampler(30, 10);
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
  const auto train = sampler(30, 10), test = sampler(30, 10);
  Trainer trainer(*optimizer, *train, test.get(), {.epochs = 1000});
  trainer.events().add(
      std::make_shared<TimeToAccuracy>(0.8, ClassificationNames{}, TimeToAccuracy::Then::stop));
  trainer.run();
  CHECK(trainer.epoch() < 500);
}

TEST_CASE("a loss that is not a number ends training, with epoch and batch") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Scripted run({1, 1, 1, 1, nan, 1}, {.epochs = 2});
  CHECK_THROWS_WITH(run.trainer.run(),
                    Catch::Contains("epoch 2 of 2, batch 2 of 3") && Catch::Contains("nan"));
  Scripted infinite({1, std::numeric_limits<double>::infinity()});
  CHECK_THROWS_AS(infinite.trainer.run(), NumericError);
}

TEST_CASE("the loss curve holds every batch's loss") {
  Scripted run({3, 2, 1});
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
  Scripted run({1, 1, 1});
  const auto bias = std::make_shared<DatasetBias>();
  run.trainer.events().add(bias);
  run.trainer.run();
  Measurement result;
  bias->summarise(result);
  REQUIRE(result.samples.size() == 3);
  for (const double share : result.samples) CHECK(share == Approx(2.0 / 6));
}

TEST_CASE("a metric that looks for a name that is not there says what there is") {
  Scripted run({1, 1, 1});
  run.trainer.events().add(std::make_shared<TrainingAccuracy>());
  CHECK_THROWS_WITH(run.trainer.run(), Catch::Contains("logits") && Catch::Contains("loss"));
}

TEST_CASE("a batch without a field that the network wants is refused by name") {
  const auto optimizer = test::points_optimizer("sgd");
  Batch batch;
  batch.values["y"] = Tensor::vector<float>({1});
  CHECK_THROWS_WITH(optimizer->step(batch), Catch::Contains("'x'") && Catch::Contains("y"));
}

TEST_CASE("a network with batch statistics is tested with the running ones that training made") {
  // x -> BatchNormalization -> Gemm; in training the running mean takes in each batch's.
  Network network("normalised");
  network.add_input("x", DType::float32, {"N", std::int64_t{2}});
  network.add_input("label", DType::int64, {"N"});
  network.add_parameter("scale", Tensor::vector<float>({1, 1}));
  network.add_parameter("shift", Tensor::vector<float>({0, 0}));
  network.add_constant("mean", Tensor::vector<float>({0, 0}));
  network.add_constant("variance", Tensor::vector<float>({1, 1}));
  network.add_parameter("w", Tensor::of<float>({2, 3}, {1, -1, 0, 0, 1, -1}));
  network.add_node("BatchNormalization", {"x", "scale", "shift", "mean", "variance"},
                   {"n", "new_mean", "new_variance"}, {{"training_mode", std::int64_t{1}}});
  network.add_update("mean", "new_mean");
  network.add_update("variance", "new_variance");
  network.add_node("Gemm", {"n", "w"}, {"logits"});
  network.add_node("SoftmaxCrossEntropyLoss", {"logits", "label"}, {"loss"});
  network.add_output("logits");
  network.add_output("loss");
  network.add_output("n");
  const auto optimizer =
      optimizers().at("sgd").make(make_executor(network), "loss", Settings("sgd"));

  /// What the last test batch was normalised to, and should have been.
  struct Watch final : TrainingEvent {
    int runs = 0;
    void after_test_batch(Trainer& trainer, const Batch& batch, const ValueMap& outputs) override {
      Network& trained = trainer.optimizer().executor().network();
      const float mean = trained.fetch("mean").span<float>()[0];
      const float variance = trained.fetch("variance").span<float>()[0];
      const float x = batch.values.at("x").tensor().span<float>()[0];
      const float scale = trained.fetch("scale").span<float>()[0];
      const float shift = trained.fetch("shift").span<float>()[0];
      CHECK(outputs.at("n").tensor().span<float>()[0] ==
            Approx((x - mean) / std::sqrt(variance + 1e-5f) * scale + shift).epsilon(1e-4));
      CHECK(mean != 0.0f);
      ++runs;
    }
  };
  const auto watch = std::make_shared<Watch>();
  const auto train = sampler(30, 10), test = sampler(30, 10);
  Trainer trainer(*optimizer, *train, test.get(), {.epochs = 2});
  trainer.events().add(watch);
  trainer.run();
  CHECK(watch->runs == 6);
  CHECK(optimizer->executor().mode() == NetworkMode::as_written);
  // A test run leaves the trained network's statistics alone.
  const auto before = optimizer->executor().network().fetch("mean").copy();
  trainer.test();
  CHECK(optimizer->executor().network().fetch("mean").span<float>()[0] == before.span<float>()[0]);
}

TEST_CASE("a batch whose run an observer ends early teaches nothing, and is passed over") {
  class EndEarly final : public ExecutionEvent {
   public:
    explicit EndEarly(GraphExecutor& executor) : executor_(executor) {}
    void after_node(const StepInfo&) override {
      if (wants) executor_.end_run();
    }
    bool wants = true;

   private:
    GraphExecutor& executor_;
  };
  const auto optimizer = test::points_optimizer("sgd");
  GraphExecutor& executor = optimizer->executor();
  const auto event = std::make_shared<EndEarly>(executor);
  executor.events().add(event);
  const auto train = sampler(5, 2), test = sampler(3, 2);
  Trainer trainer(*optimizer, *train, test.get(), {.epochs = 1});
  const auto diary = std::make_shared<Diary>();
  trainer.events().add(diary);
  const Tensor before = executor.network().parameter_arena().copy();
  trainer.run();
  CHECK(diary->text == "([bbb<>])");
  CHECK(trainer.step() == 3);
  const Tensor after = executor.network().parameter_arena();
  CHECK(std::ranges::equal(after.span<float>(), before.span<float>()));
  executor.events().remove(event.get());
}
