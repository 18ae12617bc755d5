// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <catch2/catch.hpp>

#include "d5/level2_training/optimization/schedule.hpp"
#include "d5/level2_training/training/trainer.hpp"
#include "tests/level2_training/points.hpp"
#include "tests/temporary_folder.hpp"

using namespace d5;

namespace {

/// Each modifier alone, several together, and schedules that remember.
std::vector<Settings> surroundings() {
  std::vector<Settings> all{{}};
  for (const auto& name : step_modifiers().names()) {
    Settings one{{"modifiers.0.name", name}};
    const auto& entry = step_modifiers().at(name);
    if (entry.has_option("every")) one.set("modifiers.0.every", 3);
    if (entry.has_option("most")) one.set("modifiers.0.most", 0.5);
    if (name == "loss_scale") one.set("modifiers.0.most", 1024), one.set("modifiers.0.initial", 4);
    if (entry.has_option("pairs")) one.set("modifiers.0.pairs", 2);
    all.push_back(one);
  }
  all.push_back({{"modifiers", "accumulate,sam,clip_norm,loss_scale,lookahead,ema,swa"}});
  all.push_back({{"schedules.learning_rate.name", "plateau"},
                 {"schedules.learning_rate.loss", "training"},
                 {"schedules.learning_rate.patience", 1},
                 {"schedules.learning_rate.factor", 0.7}});
  all.push_back({{"schedules.learning_rate.name", "warmup"},
                 {"schedules.learning_rate.start", 0.1},
                 {"schedules.learning_rate.then.name", "plateau"},
                 {"schedules.learning_rate.then.patience", 0},
                 {"schedules.learning_rate.then.threshold", 10},
                 {"schedules.learning_rate.every", "epoch"},
                 {"schedules.learning_rate.length", 1}});
  return all;
}

/// 40 points in batches of 6, a dropout that draws, and test runs.
struct Run {
  Run(const std::string& name, const Settings& settings, TrainerOptions options)
      : optimizer(
            open_optimizer(name, make_executor(test::points_network(1, 0.25f)), "loss", settings)),
        train(samplers().at("shuffle").make(test::points(40), {{"batch_size", 6}, {"seed", 5}})),
        test(samplers().at("ordered").make(test::points(30, 2), {{"batch_size", 30}})),
        trainer(*optimizer, *train, test.get(), std::move(options)) {}
  std::shared_ptr<Optimizer> optimizer;
  std::shared_ptr<Sampler> train, test;
  Trainer trainer;
};

}  // namespace

TEST_CASE("every optimizer under every modifier goes on from a checkpoint to the same bits") {
  const testing::TemporaryFolder folder;
  const std::string file = folder / "checkpoint";
  constexpr std::int64_t kMiddle = 10, kAll = 18;  // within the second epoch, and the third
  for (const auto& name : optimizers().names()) {
    for (Settings settings : surroundings()) {
      optimizers().at(name).offer(settings, "learning_rate", 0.01);  // all stay finite
      CAPTURE(name, settings.values());
      const bool has_rate = optimizers().at(name).has_option("learning_rate");
      if (!has_rate && !settings.below("schedules").values().empty()) continue;
      Run whole(name, settings, {.epochs = 3, .most_batches = kAll});
      whole.trainer.run();
      Run(name, settings, {.epochs = 3, .most_batches = kMiddle, .checkpoint = file}).trainer.run();
      Run resumed(name, settings, {.epochs = 3, .most_batches = kAll});
      resumed.trainer.resume(file);
      resumed.trainer.run();
      CHECK(test::parameters(*resumed.optimizer) == test::parameters(*whole.optimizer));
      const TestParameters lent(*resumed.optimizer), also(*whole.optimizer);
      CHECK(test::parameters(*resumed.optimizer) == test::parameters(*whole.optimizer));
    }
  }
}
