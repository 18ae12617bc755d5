// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/optimization/rank_agreement.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/optimization/step_modifier.hpp"
#include "d5/level2_training/training/trainer.hpp"
#include "tests/level2_training/scripted_training.hpp"

using namespace d5;

namespace {

/// This rank and another one, which always says the same.
class WithAnother final : public RankAgreement {
 public:
  explicit WithAnother(std::vector<double> others) : others_(std::move(others)) {}
  int ranks() const override { return 2; }

 private:
  void do_sum(std::span<double> values) override {
    if (values.size() > others_.size() && sums_++ == 0) {  // hyper-parameters: the same there
      for (double& value : values) value *= 2;
      return;
    }
    if (sums_ == 1) {  // whether they differ
      ++sums_;
      return;
    }
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += others_[i % others_.size()];
  }
  std::vector<double> others_;
  int sums_ = 0;  // steps of the comparison of hyper-parameters that are done
};

/// Records a modifier's calls about test runs.
class Told final : public StepModifier {
 public:
  std::string name() const override { return "told"; }
  void tested(ThreeStepOptimizer&, double loss) override { losses.push_back(loss); }
  std::vector<double> losses;
};

}  // namespace

TEST_CASE("a rank alone agrees with itself, to the bit") {
  RankAgreement alone;
  CHECK(alone.ranks() == 1);
  // 0.1 * 3 / 3 rounds to another number.
  CHECK(alone.mean(0.1, 3) == 0.1);
  CHECK(alone.sum(0.1) == 0.1);
  CHECK(alone.any(true));
  CHECK_FALSE(alone.any(false));
  std::array values{1.0, 2.0};
  alone.sum(values);
  CHECK(values == std::array{1.0, 2.0});
}

TEST_CASE("a mean over ranks is by weights, and one that weighs nothing does not count") {
  // The other rank: mean 5 of weight 2.
  WithAnother both({10, 2});
  CHECK(both.mean(1, 6) == (6.0 + 10) / 8);
  CHECK(both.mean(std::numeric_limits<double>::quiet_NaN(), 0) == 5);
  CHECK(std::isnan(WithAnother({0, 0}).mean(3, 0)));
  Batch batch;
  batch.size = 6;
  CHECK(WithAnother({10, 1}).mean(1, batch) == (1.0 + 10) / 2);  // as many samples on each
  batch.global_size = 8;
  CHECK(both.mean(1, batch) == 2);
}

TEST_CASE("one wish is enough") {
  CHECK(WithAnother({1}).any(false));
  CHECK(WithAnother({0}).any(true));
  CHECK_FALSE(WithAnother({0}).any(false));
}

TEST_CASE("a test run's loss is over all ranks' samples, though one of them has none") {
  const auto told = std::make_shared<Told>();
  const auto optimizer =
      std::dynamic_pointer_cast<ThreeStepOptimizer>(test::points_optimizer("sgd"));
  optimizer->add(told);
  optimizer->tested(0.25, 4);
  // The other one is asked for its samples, 3, then for its sum and them: 3 of mean 1.
  optimizer->set_agreement(std::make_shared<WithAnother>(std::vector<double>{3, 3}));
  optimizer->tested(5, 1);
  optimizer->tested(0, 0);
  CHECK(told->losses == std::vector<double>{0.25, (5.0 + 3) / 4, 1});
  optimizer->set_agreement(std::make_shared<RankAgreement>());
  optimizer->tested(0, 0);  // without samples nothing is reported
  CHECK(told->losses.size() == 3);
}

TEST_CASE("training ends by another rank's wish, and within no epoch") {
  test::ScriptedTraining here({1, 1, 1, 1, 1, 1}, {.epochs = 2});
  dynamic_cast<ThreeStepOptimizer&>(*here.optimizer)
      .set_agreement(std::make_shared<WithAnother>(std::vector<double>{1}));
  here.trainer.run();
  CHECK(here.trainer.step() == 0);

  struct Enough final : TrainingEvent {
    bool wants_stop() const override { return steps > 0; }
    void after_batch(Trainer&, const Batch&, const ValueMap&) override { ++steps; }
    int steps = 0;
  };
  test::ScriptedTraining mine({1, 1, 1, 1, 1, 1}, {.epochs = 2});
  dynamic_cast<ThreeStepOptimizer&>(*mine.optimizer)
      .set_agreement(std::make_shared<WithAnother>(std::vector<double>{0}));
  mine.trainer.events().add(std::make_shared<Enough>());
  mine.trainer.run();
  CHECK(mine.trainer.step() == 3);
}

TEST_CASE("loss_scale refuses a step that overflowed on another rank") {
  const auto optimizer = std::dynamic_pointer_cast<ThreeStepOptimizer>(open_optimizer(
      "sgd", make_executor(test::points_network()), "loss", {{"modifiers", "loss_scale"}}));
  const auto sampler = test::points_sampler(6, 2);
  optimizer->step(*sampler->next());
  CHECK(optimizer->refused_steps() == 0);
  optimizer->set_agreement(std::make_shared<WithAnother>(std::vector<double>{1}));
  optimizer->step(*sampler->next());
  CHECK(optimizer->refused_steps() == 1);
  CHECK(optimizer->modifiers().front()->loss_factor() == 32768);
}

TEST_CASE("no agreement at all is refused") {
  const auto optimizer =
      std::dynamic_pointer_cast<ThreeStepOptimizer>(test::points_optimizer("sgd"));
  CHECK_THROWS_AS(optimizer->set_agreement(nullptr), ValueError);
}
