// SPDX-License-Identifier: Apache-2.0
// A step in its parts, as a scheme makes its own.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <limits>

#include "d5/core/errors/error.hpp"
#include "d5/level2_training/optimization/step_modifier.hpp"
#include "tests/level2_training/points.hpp"

using namespace d5;

namespace {

std::shared_ptr<ThreeStepOptimizer> points_optimizer(const std::string& name,
                                                     const Settings& settings = {}) {
  auto optimizer = open_optimizer(name, make_executor(test::points_network()), "loss", settings);
  return std::dynamic_pointer_cast<ThreeStepOptimizer>(optimizer);
}

std::shared_ptr<Sampler> batches() {
  return samplers().at("ordered").make(test::points(34), {{"batch_size", 10}});
}

std::vector<Parameter>& parameters_of(ThreeStepOptimizer& optimizer) {
  return optimizer.executor().network().parameters();
}

std::size_t place_of(ThreeStepOptimizer& optimizer, const std::string& name) {
  return std::size_t(std::ranges::find(parameters_of(optimizer), name, &Parameter::name) -
                     parameters_of(optimizer).begin());
}

/// The loop of Deep500's section IV-E, one parameter after another.
void step_in_parts(ThreeStepOptimizer& optimizer, const Batch& batch) {
  optimizer.begin_step(batch);
  (void)optimizer.run_gradients(batch);
  if (!optimizer.begin_updates()) return;
  for (std::size_t i = 0; i < parameters_of(optimizer).size(); ++i) optimizer.update(i);
  optimizer.end_step();
}

/// Likewise, of gradients that `server` computes, which knows the parameters alone.
void step_by_server(ThreeStepOptimizer& optimizer, ThreeStepOptimizer& server, const Batch& batch) {
  optimizer.begin_step(batch);
  auto &mine = parameters_of(optimizer), &theirs = parameters_of(server);
  for (std::size_t i = 0; i < mine.size(); ++i) theirs[i].value.copy_from(mine[i].value);
  (void)server.gradients().run(batch);
  REQUIRE(optimizer.begin_updates());
  for (std::size_t i = mine.size(); i-- > 0;) optimizer.update(i, theirs[i].gradient);
  optimizer.end_step();
}

void check_same(ThreeStepOptimizer& one, ThreeStepOptimizer& other) {
  CHECK(test::parameters(one) == test::parameters(other));
  CHECK(one.steps() == other.steps());
  CHECK(one.refused_steps() == other.refused_steps());
  const ValueMap a = one.state(), b = other.state();
  REQUIRE(a.size() == b.size());
  for (const auto& [name, value] : a) {
    CAPTURE(name);
    const Tensor &mine = value.tensor(), &theirs = b.at(name).tensor();
    REQUIRE(mine.bytes() == theirs.bytes());
    CHECK(std::memcmp(mine.raw(), theirs.raw(), mine.bytes()) == 0);
  }
}

Settings decayed(const std::string& modifiers) {
  return {{"schedules.learning_rate.name", "cosine"},
          {"schedules.learning_rate.length", 5},
          {"modifiers", modifiers}};
}

}  // namespace

TEST_CASE("a step in its parts makes the very bits of a step") {
  const auto compare = [](const std::string& name, const Settings& settings) {
    CAPTURE(name);
    const auto whole = points_optimizer(name, settings), parts = points_optimizer(name, settings);
    const auto sampler = batches();
    while (const Batch* batch = sampler->next()) {
      whole->step(*batch);
      step_in_parts(*parts, *batch);
      check_same(*whole, *parts);
    }
    CHECK(whole->steps() == 4);
  };
  for (const char* name : {"sgd", "adam", "momentum", "lars", "adafactor", "schedule_free_sgd"}) {
    compare(name, {});
    compare(name, decayed("ema"));
    compare(name, decayed("loss_scale,clip_norm,ema"));
    compare(name, decayed("accumulate,sam,clip_value,lookahead"));
  }
  compare("sgd", {{"schedules.learning_rate.name", "plateau"},
                  {"schedules.learning_rate.loss", "training"},
                  {"schedules.learning_rate.patience", 0},
                  {"schedules.learning_rate.threshold", 0.9}});
}

TEST_CASE("parameters are updated one by one by gradients that come from elsewhere") {
  for (const char* name : {"sgd", "adam", "lamb"}) {
    const auto whole = points_optimizer(name, decayed("ema")),
               given = points_optimizer(name, decayed("ema"));
    const auto server = points_optimizer("sgd");
    const auto sampler = batches();
    while (const Batch* batch = sampler->next()) {
      whole->step(*batch);
      step_by_server(*given, *server, *batch);
      check_same(*whole, *given);
    }
  }
}

TEST_CASE("modifiers judge the gradients that a scheme has put in their place") {
  // Each gradient is three times the network's: of norm above 1 as well, so that clipping takes
  // both to one length, within roundings.
  const Settings clipped{{"modifiers.0.name", "clip_norm"}, {"modifiers.0.most", 1e-3}};
  const auto whole = points_optimizer("sgd", clipped), given = points_optimizer("sgd", clipped);
  const auto sampler = batches();
  const Batch& batch = *sampler->next();
  const auto before = test::parameters(*whole);
  whole->step(batch);
  given->begin_step(batch);
  (void)given->run_gradients(batch);
  for (Parameter& parameter : parameters_of(*given)) {
    for (float& g : parameter.gradient.span<float>()) g *= 3;
  }
  REQUIRE(given->begin_updates());
  for (std::size_t i = 0; i < 4; ++i) given->update(i);
  given->end_step();
  const auto a = test::parameters(*whole), b = test::parameters(*given);
  CHECK(a != before);
  // The step is 1e-3 times the rate long, where parameters of size 1 are known to 2^-24.
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(std::abs(a[i] - b[i]) < 2e-7);
}

TEST_CASE("a refused step is over before its updates, and counts once") {
  const auto optimizer = points_optimizer("adam", {{"modifiers", "loss_scale"}});
  const auto before = test::parameters(*optimizer);
  const auto sampler = batches();
  const Batch& batch = *sampler->next();
  optimizer->begin_step(batch);
  (void)optimizer->run_gradients(batch);
  parameters_of(*optimizer)[1].gradient.span<float>()[0] = std::numeric_limits<float>::infinity();
  CHECK_FALSE(optimizer->begin_updates());
  CHECK_THROWS_WITH(optimizer->update(0), Catch::Contains("after it was refused"));
  CHECK_THROWS_AS(optimizer->end_step(), ValueError);
  CHECK(test::parameters(*optimizer) == before);
  CHECK(optimizer->steps() == 1);
  CHECK(optimizer->refused_steps() == 1);
  CHECK_NOTHROW(step_in_parts(*optimizer, batch));
  CHECK(optimizer->steps() == 2);
}

TEST_CASE("every optimizer's rule refuses updates before begin_update of their step") {
  const auto refuses = [](ThreeStepOptimizer& optimizer) {
    Parameter& parameter = parameters_of(optimizer)[0];
    const auto before = test::parameters(optimizer);
    CHECK_THROWS_AS(optimizer.update_rule(parameter.gradient, parameter, 0), Error);
    const bool together = optimizer.wants_all_gradients() && !optimizer.prepares_params();
    if (!together) CHECK_THROWS_AS(optimizer.update_parameters({0, 4}, 1), ValueError);
    CHECK_THROWS_AS(optimizer.update(0), ValueError);
    CHECK(test::parameters(optimizer) == before);
  };
  for (const std::string& name : optimizers().names()) {
    CAPTURE(name);
    const auto optimizer = points_optimizer(name);
    refuses(*optimizer);
    const auto sampler = batches();
    optimizer->step(*sampler->next());
    refuses(*optimizer);
    optimizer->step(*sampler->next());  // and goes on
  }
  const auto sgd = points_optimizer("sgd");
  const std::size_t w2 = place_of(*sgd, "w2");
  CHECK_THROWS_WITH(sgd->update_rule(parameters_of(*sgd)[w2].gradient, parameters_of(*sgd)[w2], w2),
                    Catch::Contains("network 'points': parameter 'w2' is updated before "
                                    "begin_update") &&
                        Catch::Contains("call step"));
}

TEST_CASE("the hooks that are called one by one are refused where begin_update was left out") {
  const auto optimizer = points_optimizer("adam");
  const auto sampler = batches();
  const Batch& batch = *sampler->next();
  const auto hooks = [&](bool begins) {
    optimizer->new_input();
    for (Parameter& parameter : parameters_of(*optimizer)) optimizer->prepare_param(parameter);
    (void)optimizer->gradients().run(batch);
    if (begins) optimizer->begin_update();
    for (std::size_t i = 0; i < 4; ++i) {
      Parameter& parameter = parameters_of(*optimizer)[i];
      optimizer->update_rule(parameter.gradient, parameter, i);
    }
  };
  hooks(true);
  CHECK_THROWS_AS(hooks(false), ValueError);  // what the step before made is no longer good
  const auto whole = points_optimizer("adam");
  whole->step(batch);
  CHECK(test::parameters(*whole) == test::parameters(*optimizer));
}

TEST_CASE("parts of a step out of order are refused with their order") {
  const auto optimizer = points_optimizer("sgd");
  const auto sampler = batches();
  const Batch& batch = *sampler->next();
  const auto refused = [](auto&& call) {
    CHECK_THROWS_AS(call(), ValueError);
    CHECK_THROWS_WITH(call(), Catch::Contains("a step is begin_step, run_gradients, begin_updates, "
                                              "update for each parameter, end_step"));
  };
  refused([&] { (void)optimizer->run_gradients(batch); });
  refused([&] { (void)optimizer->begin_updates(); });
  refused([&] { optimizer->update(0); });
  refused([&] { optimizer->end_step(); });
  optimizer->begin_step(batch);
  refused([&] { optimizer->update(0); });
  refused([&] { optimizer->end_step(); });
  REQUIRE(optimizer->begin_updates());
  refused([&] { optimizer->begin_step(batch); });
  refused([&] { optimizer->step(batch); });
  refused([&] { (void)optimizer->run_gradients(batch); });
  refused([&] { (void)optimizer->begin_updates(); });
  CHECK_THROWS_WITH(optimizer->update(4),
                    Catch::Contains("update of parameter 4, expected 0 to 3"));
  optimizer->end_step();
  refused([&] { optimizer->end_step(); });
  optimizer->begin_step(batch);  // and given up
  optimizer->step(batch);
  CHECK(optimizer->steps() == 3);
}

TEST_CASE("a gradient from elsewhere has to fit, and to be the one that was judged") {
  const auto optimizer = points_optimizer("sgd"),
             clipped = points_optimizer("sgd", {{"modifiers", "clip_norm"}});
  const auto sampler = batches();
  const Batch& batch = *sampler->next();
  for (const auto& one : {optimizer, clipped}) {
    one->begin_step(batch);
    REQUIRE(one->begin_updates());
  }
  const std::size_t w1 = place_of(*optimizer, "w1");
  CHECK_THROWS_AS(optimizer->update(w1, Tensor::zeros(DType::float32, {8, 2})), ShapeError);
  CHECK_THROWS_AS(optimizer->update(w1, Tensor::zeros(DType::float64, {2, 8})), TypeError);
  CHECK_NOTHROW(optimizer->update(w1, Tensor::zeros(DType::float32, {2, 8})));
  CHECK_THROWS_WITH(clipped->update(w1, Tensor::zeros(DType::float32, {2, 8})),
                    Catch::Contains("'w1'") && Catch::Contains("before begin_updates"));
  CHECK_NOTHROW(clipped->update(w1, parameters_of(*clipped)[w1].gradient));
}

TEST_CASE("an optimizer that updates all parameters together is not taken apart") {
  for (const char* name : {"lbfgs", "stochastic_lbfgs"}) {
    const auto optimizer = points_optimizer(name);
    const auto sampler = batches();
    const Batch& batch = *sampler->next();
    CHECK_THROWS_AS(optimizer->begin_step(batch), Unsupported);
    CHECK_NOTHROW(optimizer->step(batch));
    CHECK_THROWS_AS(optimizer->begin_step(batch), Unsupported);
  }
}
