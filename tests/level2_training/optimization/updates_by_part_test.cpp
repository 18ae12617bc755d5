// SPDX-License-Identifier: Apache-2.0
// Gradients that become final in several parts: when updates wait, and when values are shared.
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "d5/level2_training/optimization/step_modifier.hpp"
#include "tests/level2_training/points.hpp"

using namespace d5;

namespace {

using Log = std::shared_ptr<std::vector<std::string>>;

/// Each parameter's gradient is a part.
class OneByOne final : public GradientDecorator {
 public:
  OneByOne(std::shared_ptr<GradientSource> inner, Log log)
      : GradientDecorator(std::move(inner)), log_(std::move(log)) {}
  const ValueMap& run(const Batch& batch, const GradientRun& how) override {
    const ValueMap& outputs = inner().run(batch, how);
    inner().finish_all();
    return outputs;
  }
  [[nodiscard]] std::size_t parts() const override { return 4; }
  ParameterRange finish(std::size_t part) override {
    log_->push_back("final " + std::to_string(part));
    return {part, part + 1};
  }

 private:
  Log log_;
};

/// w <- w - 0.1 g, with a log of its calls.
class ToldDescent final : public UpdateRuleOptimizer {
 public:
  explicit ToldDescent(Log log)
      : UpdateRuleOptimizer(make_executor(test::points_network()), "loss"), log_(std::move(log)) {}
  void update_rule(const Tensor& gradient, Parameter& parameter, std::size_t index) override {
    log_->push_back("update " + std::to_string(index));
    auto value = parameter.value.span<float>();
    for (std::size_t i = 0; i < value.size(); ++i) value[i] -= 0.1f * gradient.data<float>()[i];
  }
  [[nodiscard]] bool prepares_params() const override { return false; }
  [[nodiscard]] ValueMap rule_state() const override { return {}; }
  void restore_rule(const ValueMap&) override {}

 private:
  Log log_;
};

void cut(ThreeStepOptimizer& optimizer, const Log& log) {
  optimizer.add_gradient_layer(ThreeStepOptimizer::GradientLayer::exchanged,
                               [log](std::shared_ptr<GradientSource> inner) {
                                 return std::make_shared<OneByOne>(std::move(inner), log);
                               });
}

ThreeStepOptimizer::ValueSharing told(const Log& log) {
  return {.start = [log](std::size_t part) { log->push_back("start " + std::to_string(part)); },
          .finish = [log] { log->push_back("finish"); }};
}

std::shared_ptr<ThreeStepOptimizer> sgd(const Settings& modifiers) {
  Settings settings = modifiers;
  settings.set("learning_rate", 0.5);
  return std::dynamic_pointer_cast<ThreeStepOptimizer>(
      open_optimizer("sgd", make_executor(test::points_network()), "loss", settings));
}

const std::vector<ParameterRange> kFirstAndThird{{0, 1}, {1, 1}, {2, 3}, {3, 3}};

}  // namespace

TEST_CASE("the values of a part start to be shared before the next part is updated") {
  const auto log = std::make_shared<std::vector<std::string>>();
  ToldDescent optimizer(log);
  cut(optimizer, log);
  optimizer.update_own(kFirstAndThird, told(log));
  const auto data = test::points_sampler(12, 4);
  const Batch& batch = *data->next();
  optimizer.step(batch);
  CHECK(*log == std::vector<std::string>{"final 0", "update 0", "start 0", "final 1", "update 1",
                                         "start 1", "final 2", "update 2", "start 2", "final 3",
                                         "update 3", "start 3", "finish"});

  log->clear();
  optimizer.add(step_modifiers().at("clip_norm").make({{"most", 0.5}}));
  optimizer.step(batch);
  CHECK(*log == std::vector<std::string>{"final 0", "final 1", "final 2", "final 3", "update 0",
                                         "start 0", "update 1", "start 1", "update 2", "start 2",
                                         "update 3", "start 3", "finish"});
}

TEST_CASE(
    "an optimizer that makes a step of its parts has all values shared at its end, and at tests") {
  const auto log = std::make_shared<std::vector<std::string>>();
  ToldDescent optimizer(log);
  optimizer.update_own(kFirstAndThird, told(log));
  const auto data = test::points_sampler(12, 4);
  const Batch& batch = *data->next();
  optimizer.begin_step(batch);
  (void)optimizer.run_gradients(batch);
  REQUIRE(optimizer.begin_updates());
  optimizer.update(2);
  optimizer.update(0);
  optimizer.end_step();
  const std::vector<std::string> shared{"start 0", "start 1", "start 2", "start 3", "finish"};
  auto expected = shared;
  expected.insert(expected.begin(), {"update 2", "update 0"});
  CHECK(*log == expected);
  log->clear();
  optimizer.begin_test();
  CHECK(*log == shared);
}

TEST_CASE("norms of parts that arrive one by one are those of all together, to the bit") {
  for (const char* modifiers : {"clip_norm", "loss_scale,clip_norm", "clip_tensor_norm,clip_norm",
                                "clip_norm,clip_value"}) {
    CAPTURE(modifiers);
    const Settings settings{{"modifiers", modifiers}};
    const auto parts = sgd(settings), whole = sgd(settings);
    const auto log = std::make_shared<std::vector<std::string>>();
    cut(*parts, log);
    const auto data = test::points_sampler(12, 4);
    while (const Batch* batch = data->next()) {
      parts->step(*batch);
      whole->step(*batch);
    }
    CHECK(test::parameters(*parts) == test::parameters(*whole));
  }
}

TEST_CASE("a limit of elements that the update keeps waits for no other gradient") {
  const auto waits = [](const Settings& settings) {
    const auto optimizer = sgd(settings);
    const auto log = std::make_shared<std::vector<std::string>>();
    cut(*optimizer, log);
    optimizer->read_gradients([log](ParameterRange range, double) {
      log->push_back("told " + std::to_string(range.begin));
    });
    const auto data = test::points_sampler(12, 4);
    optimizer->step(*data->next());
    return log->at(1) == "final 1";
  };
  CHECK_FALSE(waits({{"modifiers", "clip_value"}}));
  CHECK(waits({{"modifiers", "clip_value,clip_norm"}}));
  CHECK(waits({{"modifiers", "clip_norm,clip_value"}}));
}
