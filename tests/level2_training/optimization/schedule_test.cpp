// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/optimization/schedule.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/training/trainer.hpp"
#include "tests/level2_training/points.hpp"
#include "tests/level2_training/scripted_executor.hpp"

using namespace d5;

namespace {

/// Parameters w and bias, both 0, whose gradients are always -1: what is added is the rate.
std::shared_ptr<Optimizer> climb(const std::string& name, const Settings& settings,
                                 std::vector<double> losses = {1}) {
  auto executor = std::make_unique<test::ScriptedExecutor>(
      std::vector<std::pair<std::string, Tensor>>{{"w", Tensor::of<double>({1}, {0})},
                                                  {"bias", Tensor::of<double>({1}, {0})}},
      [losses](Network& network, std::int64_t step) {
        for (Parameter& parameter : network.parameters()) {
          parameter.gradient.data<double>()[0] = -1;
        }
        return losses[std::size_t(step) % losses.size()];
      });
  return open_optimizer(name, std::move(executor), "loss", settings);
}

/// The change of a parameter by one step.
double rate(Optimizer& optimizer, std::int64_t epoch = 0, const char* parameter = "w") {
  Tensor& w = optimizer.executor().network().parameter(parameter).value;
  const double before = w.item<double>();
  Batch batch;
  batch.size = 1;
  batch.epoch = epoch;
  optimizer.step(batch);
  return w.item<double>() - before;
}

}  // namespace

TEST_CASE("a schedule counts steps, or epochs") {
  const auto by_step = climb("sgd", {{"learning_rate", 8},
                                     {"schedules.learning_rate.name", "multi_step"},
                                     {"schedules.learning_rate.at", "1,3"},
                                     {"schedules.learning_rate.factor", 0.5}});
  for (const double expected : {8, 4, 4, 2, 2}) CHECK(rate(*by_step) == expected);
  const auto by_epoch = climb("sgd", {{"learning_rate", 8},
                                      {"schedules.learning_rate.name", "step"},
                                      {"schedules.learning_rate.size", 1},
                                      {"schedules.learning_rate.factor", 0.5},
                                      {"schedules.learning_rate.every", "epoch"}});
  CHECK(rate(*by_epoch, 0) == 8);
  CHECK(rate(*by_epoch, 0) == 8);
  CHECK(rate(*by_epoch, 2) == 2);
  CHECK(rate(*by_epoch, 1) == 4);
}

TEST_CASE("several hyper-parameters have schedules, and those of groups change in proportion") {
  const auto optimizer = climb("momentum", {{"learning_rate", 8},
                                            {"momentum", 0.5},
                                            {"groups.0.name", "b*"},
                                            {"groups.0.learning_rate", 2},
                                            {"schedules.learning_rate.name", "step"},
                                            {"schedules.learning_rate.size", 1},
                                            {"schedules.learning_rate.factor", 0.5},
                                            {"schedules.momentum.name", "linear"},
                                            {"schedules.momentum.start", 1},
                                            {"schedules.momentum.end", 2},
                                            {"schedules.momentum.length", 2}});
  // Velocities 1, 0.75 + 1, 1.75 + 1.
  CHECK(rate(*optimizer) == 8);
  CHECK(rate(*optimizer) == 4 * 1.75);
  CHECK(rate(*optimizer, 0, "bias") == 0.5 * 2.75);
  CHECK(optimizer->hyper_parameters().at("momentum") == 1);
}

TEST_CASE("past its end a schedule stays where it was") {
  for (const char* words : {"linear", "cosine", "polynomial", "one_cycle", "warmup"}) {
    INFO(words);
    const auto schedule = schedules().at(words).make({{"length", 10}});
    const double last = schedule->at(10, 0.1);
    CHECK(schedule->at(11, 0.1) == last);
    CHECK(schedule->at(std::int64_t{1} << 60, 0.1) == last);
  }
  for (const auto& [name, entry] : schedules().entries()) {
    const std::set<std::string> bare{"chain",          "cosine",   "multi_step",
                                     "multiplicative", "sequence", "step"};
    if (bare.contains(name)) continue;  // they have no defaults
    INFO(name);
    CHECK(std::isfinite(entry.make()->at(std::int64_t{1} << 60, 0.1)));
  }
  CHECK_THROWS_AS(schedules().at("cosine").make(), ValueError);
  CHECK_THROWS_AS(schedules().at("step").make(), ValueError);
}

TEST_CASE("the parts of a chain see what it observes, and its state is theirs") {
  const Settings settings{{"parts.0.name", "linear"},  {"parts.0.start", 0.5},
                          {"parts.0.end", 1},          {"parts.0.length", 4},
                          {"parts.1.name", "plateau"}, {"parts.1.factor", 0.25},
                          {"parts.1.patience", 1}};
  const auto chain = schedules().at("chain").make(settings);
  CHECK(chain->observes() == Schedule::Observes::test_loss);
  for (const double expected : {4, 5, 6}) {  // a loss, and two that are no better
    CHECK(chain->at(std::int64_t(expected) - 4, 8) == expected);
    chain->observe(1);
  }
  CHECK(chain->at(3, 8) == 7 * 0.25);
  const auto resumed = schedules().at("chain").make(settings);
  resumed->restore(chain->state());
  CHECK(resumed->at(4, 8) == 2);
}

TEST_CASE("a plateau of the training loss is that of an epoch's mean") {
  // Means 2, 2, 2, ...: after one loss that is no better the rate is halved, and so on.
  const auto optimizer = climb("sgd",
                               {{"learning_rate", 8},
                                {"schedules.learning_rate.name", "plateau"},
                                {"schedules.learning_rate.loss", "training"},
                                {"schedules.learning_rate.every", "epoch"},
                                {"schedules.learning_rate.factor", 0.5},
                                {"schedules.learning_rate.patience", 0}},
                               {3, 1});
  const std::array expected{8.0, 8.0, 4.0, 2.0};
  for (std::int64_t epoch = 0; epoch < 4; ++epoch) {
    CHECK(rate(*optimizer, epoch) == expected[std::size_t(epoch)]);
    CHECK(rate(*optimizer, epoch) == expected[std::size_t(epoch)]);
  }
}

TEST_CASE("a trainer tells a plateau the test loss, and a checkpoint keeps what it saw") {
  const auto data = test::points(30);
  const Settings settings{{"learning_rate", 1e-6},  // too small for a better loss
                          {"schedules.learning_rate.name", "plateau"},
                          {"schedules.learning_rate.every", "epoch"},
                          {"schedules.learning_rate.patience", 1},
                          {"schedules.learning_rate.threshold", 0.1},
                          {"schedules.learning_rate.factor", 0.5}};
  const auto make = [&] {
    return open_optimizer("sgd", make_executor(test::points_network()), "loss", settings);
  };
  const auto train = samplers().at("ordered").make(data, {{"batch_size", 10}});
  const auto test = samplers().at("ordered").make(data, {{"batch_size", 30}});
  const auto optimizer = make();
  Trainer(*optimizer, *train, test.get(), {.epochs = 3}).run();
  CHECK(optimizer->hyper_parameters().at("learning_rate") == 1e-6);
  const auto continued = make();
  continued->restore(optimizer->state());
  train->reset(3);
  const Batch* next = train->next();
  REQUIRE(next->epoch == 3);
  optimizer->step(*next);
  continued->step(*next);
  CHECK(optimizer->hyper_parameters().at("learning_rate") == 0.5e-6);
  CHECK(continued->hyper_parameters().at("learning_rate") == 0.5e-6);
}

TEST_CASE("an impossible schedule is refused with its name") {
  const auto with = [](std::initializer_list<std::pair<std::string, Settings::Value>> settings) {
    return climb("sgd", settings);
  };
  CHECK_THROWS_WITH(with({{"schedules.learning_rat", "linear"}}), Catch::Contains("learning_rate"));
  CHECK_THROWS_WITH(with({{"schedules.learning_rate", "cosines"}}), Catch::Contains("cosine"));
  CHECK_THROWS_WITH(with({{"schedules", "cosine"}}), Catch::Contains("learning_rate: {name"));
  CHECK_THROWS_AS(with({{"schedules.learning_rate.length", 3}}), NotFound);
  CHECK_THROWS_AS(
      with({{"schedules.learning_rate.name", "multi_step"}, {"schedules.learning_rate.at", "3,2"}}),
      ValueError);
  CHECK_THROWS_AS(
      with({{"schedules.learning_rate.name", "multi_step"}, {"schedules.learning_rate.at", "3.5"}}),
      ValueError);
  CHECK_THROWS_AS(with({{"schedules.learning_rate.name", "sequence"},
                        {"schedules.learning_rate.parts", "cosine,step"}}),
                  ValueError);
  CHECK_THROWS_WITH(with({{"schedules.learning_rate.name", "chain"}}), Catch::Contains("parts.0"));
  CHECK_THROWS_WITH(with({{"schedules.learning_rate.name", "multiplicative"}}),
                    Catch::Contains("factors=0.9"));
  CHECK_THROWS_AS(with({{"schedules.learning_rate.name", "one_cycle"},
                        {"schedules.learning_rate.rising", 0.6},
                        {"schedules.learning_rate.symmetric", true}}),
                  ValueError);
  const auto negative =
      with({{"schedules.learning_rate.name", "constant"}, {"schedules.learning_rate.factor", -1}});
  CHECK_THROWS_AS(negative->step({}), ValueError);
  const auto nowhere = with({{"learning_rate", 1e300},
                             {"schedules.learning_rate.name", "constant"},
                             {"schedules.learning_rate.factor", 1e300}});
  CHECK_THROWS_AS(nowhere->step({}), NumericError);
}
