// SPDX-License-Identifier: Apache-2.0
#include "d5/level3_distributed/schemes/rank_check.hpp"

#include <catch2/catch.hpp>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/training/trainer.hpp"
#include "d5/level3_distributed/decorators/training_step.hpp"
#include "d5/level3_distributed/schemes/distributed_training.hpp"
#include "tests/level3_distributed/recipe_for_ranks.hpp"
#include "tests/level3_distributed/this_rank.hpp"

using namespace d5;
using testing::last_rank, testing::rank_count, testing::this_rank;

namespace {

Recipe tiny(int seed = 1) { return testing::recipe_for_ranks({.train = 48, .seed = seed}); }

/// Changes one number of one parameter after a step, and keeps the steps that it saw.
class Meddler final : public TrainingEvent {
 public:
  explicit Meddler(std::int64_t step) : step_(step) {}
  void after_batch(Trainer& trainer, const Batch&, const ValueMap&) override {
    steps_seen = training_step();
    if (trainer.step() != step_) return;
    auto& parameter = trainer.optimizer().executor().network().parameters()[2];
    changed = parameter.name;
    parameter.value.data<float>()[0] += 1e-6f;
  }
  std::string changed;
  std::int64_t steps_seen = 0;

 private:
  std::int64_t step_;
};

class Refuser final : public TrainingEvent {
  void after_batch(Trainer&, const Batch&, const ValueMap&) override {
    throw ShapeError("Refuser: no batch has the right shape");
  }
};

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::string error_of_training(SessionOptions session) {
  return error_of([&] { (void)train(tiny(), std::move(session), world()); });
}

}  // namespace

TEST_CASE("ranks that stay equal pass every comparison, and know their step") {
  const auto watcher = std::make_shared<Meddler>(1000);
  CHECK(error_of_training({.observers = {std::make_shared<RankCheck>(world(), 1), watcher}}) ==
        "no error");
  CHECK(watcher->steps_seen == (rank_count > 1 ? 4 : 0));  // 48 samples in batches of 12
  CHECK(training_step() == 0);
}

TEST_CASE("a rank whose parameters differ in a bit is named, with step and tensor, on all ranks") {
  if (rank_count < 3) return;  // two ranks have no minority
  const auto meddler = std::make_shared<Meddler>(this_rank == last_rank ? 3 : 1000);
  const std::string error =
      error_of_training({.observers = {meddler, std::make_shared<RankCheck>(world(), 1)}});
  CHECK_THAT(error, Catch::Contains("step 3: the ranks' parameters differ in 1 of"));
  CHECK_THAT(error, Catch::Contains(": rank " + std::to_string(last_rank) + " against rank 0, 1"));
  if (this_rank == last_rank) CHECK_THAT(error, Catch::Contains("'" + meddler->changed + "'"));
}

TEST_CASE("what differs between two comparisons is found at the next one") {
  if (rank_count < 2) return;
  const auto meddler = std::make_shared<Meddler>(this_rank == last_rank ? 1 : 1000);
  const std::string error =
      error_of_training({.observers = {meddler, std::make_shared<RankCheck>(world(), 2)}});
  CHECK_THAT(error, Catch::Contains("step 2: ") &&
                        Catch::Contains(": rank " + std::to_string(last_rank) + " against rank 0"));
}

TEST_CASE("what ends the training of ranks is thrown as the type that it was") {
  if (rank_count < 2) return;
  const auto train_with = [](std::vector<std::shared_ptr<TrainingEvent>> observers) {
    (void)train(tiny(), {.observers = std::move(observers)}, world());
  };
  const auto meddler = std::make_shared<Meddler>(this_rank == last_rank ? 1 : 1000);
  CHECK_THROWS_AS(train_with({meddler, std::make_shared<RankCheck>(world(), 1)}),
                  CommunicationError);
  CHECK_THROWS_AS(train_with({std::make_shared<Refuser>()}), ShapeError);
}

TEST_CASE("ranks with different recipes are refused before training, all differences named") {
  if (rank_count < 2) return;
  Recipe recipe = tiny(this_rank == last_rank ? 2 : 1);
  if (this_rank == last_rank) recipe.set("optimizer.learning_rate=0.1");
  CHECK_THROWS_AS(StartComparison(recipe, {}, world()).compare_recipes(), CommunicationError);
  const std::string error = error_of([&] { (void)train(recipe, {}, world()); });
  CHECK_THAT(error, Catch::Contains("training.seed: 1 at rank 0") &&
                        Catch::Contains("2 at rank " + std::to_string(last_rank)));
  CHECK_THAT(error, Catch::Contains("optimizer.learning_rate: 0.05 at rank 0") &&
                        Catch::Contains("0.1 at rank " + std::to_string(last_rank)));
  // Another seed gives other parameters: reported at once.
  CHECK_THAT(error, Catch::Contains("before training") && Catch::Contains("parameters differ"));
}

TEST_CASE("a recipe that can be made on some ranks alone is refused on all, in the same words") {
  if (rank_count < 2) return;
  Recipe recipe = tiny();
  if (this_rank == last_rank) recipe.set("sampler.batch_size=-1");
  const std::string error = error_of([&] { (void)train(recipe, {}, world()); });
  CHECK_THAT(error, Catch::Contains("sampler.batch_size: -1 at rank " + std::to_string(last_rank)));
  CHECK_THAT(error, Catch::Contains("what it says: "));
}

TEST_CASE("ranks that begin with different parameters are refused") {
  if (rank_count < 2) return;
  // Another seed on one rank, without the comparison of recipes.
  const Recipe recipe = tiny(this_rank == last_rank ? 2 : 1);
  SessionOptions session;
  StartComparison(recipe, session, world()).add_to(session);
  const std::string error =
      error_of([&] { const TrainingSession training(recipe, std::move(session)); });
  CHECK_THAT(error, Catch::Contains("before training") && Catch::Contains("parameters differ"));
}

TEST_CASE("ranks with different data are refused by what differs") {
  if (rank_count < 2) return;
  Recipe recipe = this_rank == last_rank ? testing::recipe_for_ranks({.seed = 2}) : tiny();
  SessionOptions session;
  StartComparison(recipe, session, world()).add_to(session);
  const std::string error =
      error_of([&] { const TrainingSession training(recipe, std::move(session)); });
  CHECK_THAT(error,
             Catch::Contains("samples for training: 36 at rank " + std::to_string(last_rank)));
  CHECK_THAT(error, Catch::Contains("training.seed: ") && Catch::Contains("parameters differ"));
}

TEST_CASE("a comparison every 0 steps is refused") {
  CHECK_THROWS_AS(RankCheck(world(), 0), ValueError);
  CHECK_THROWS_AS(RankCheck(world(), -1), ValueError);
}
