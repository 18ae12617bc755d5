// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/training/trainer.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <limits>
#include <utility>

#include "d5/core/errors/error.hpp"
#include "d5/level1_network/graph/execution_event.hpp"
#include "tests/level2_training/points.hpp"
#include "tests/level2_training/scripted_training.hpp"

using namespace d5;

namespace {

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
  const auto train = test::points_sampler(5, 2), test = test::points_sampler(3, 2);
  Trainer trainer(*optimizer, *train, test.get(), options);
  const auto diary = std::make_shared<Diary>();
  diary->stop_after = stop_after;
  trainer.events().add(diary);
  trainer.run();
  return diary->text;
}

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

TEST_CASE("an answer after an epoch's last batch ends a run, though the next is another") {
  struct Pulse final : TrainingEvent {
    std::int64_t at = 0, batches = 0;
    mutable bool is_wished = false;
    void after_batch(Trainer&, const Batch&, const ValueMap&) override {
      is_wished = ++batches == at;
    }
    bool wants_stop() const override { return std::exchange(is_wished, false); }
  };
  for (const std::int64_t at : {2, 3, 4}) {  // epochs have three batches
    const auto optimizer = test::points_optimizer("sgd");
    const auto train = test::points_sampler(5, 2);
    Trainer trainer(*optimizer, *train, nullptr, {.epochs = 3});
    const auto pulse = std::make_shared<Pulse>();
    pulse->at = at;
    trainer.events().add(pulse);
    trainer.run();
    CHECK(trainer.step() == at);
  }
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
  const auto train = test::points_sampler(5, 2), test = test::points_sampler(3, 2);
  Trainer trainer(*optimizer, *train, test.get(), {.epochs = 2});
  const auto diary = std::make_shared<Diary>();
  trainer.events().add(diary);
  trainer.events().add(stopper);
  optimizer->executor().events().add(stopper);
  trainer.run({.token = stopper->stop.get_token()});
  CHECK(trainer.interrupted());
  // Leftovers must not end the next run.
  diary->text += " ";
  trainer.run();
  CHECK_FALSE(trainer.interrupted());
  return diary->text;
}

}  // namespace

TEST_CASE("a trainer is not run, or resumed, from its own hooks") {
  struct Again final : TrainingEvent {
    int refused = 0;
    void after_batch(Trainer& trainer, const Batch&, const ValueMap&) override {
      CHECK_THROWS_AS(trainer.run(), ValueError);
      CHECK_THROWS_AS(trainer.resume("nowhere"), ValueError);
      ++refused;
    }
  };
  const auto optimizer = test::points_optimizer("sgd");
  const auto train = test::points_sampler(5, 2);
  Trainer trainer(*optimizer, *train, nullptr, {.epochs = 2});
  const auto again = std::make_shared<Again>();
  trainer.events().add(again);
  trainer.run();
  CHECK(again->refused == 6);
  trainer.run();  // after its end it may be
}

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
  const auto train = test::points_sampler(5, 2);
  Trainer trainer(*optimizer, *train, nullptr);
  trainer.run({.deadline = 0});
  CHECK(trainer.interrupted());
  CHECK(trainer.step() == 0);
}

TEST_CASE("a loss that is not a number ends training, with epoch and batch") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  test::ScriptedTraining run({1, 1, 1, 1, nan, 1}, {.epochs = 2});
  CHECK_THROWS_WITH(run.trainer.run(),
                    Catch::Contains("epoch 2 of 2, batch 2 of 3") && Catch::Contains("nan"));
  test::ScriptedTraining infinite({1, std::numeric_limits<double>::infinity()});
  CHECK_THROWS_AS(infinite.trainer.run(), NumericError);
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

  /// The normalised last test batch, and its expected value.
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
  const auto train = test::points_sampler(30, 10), test = test::points_sampler(30, 10);
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
  const auto train = test::points_sampler(5, 2), test = test::points_sampler(3, 2);
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
