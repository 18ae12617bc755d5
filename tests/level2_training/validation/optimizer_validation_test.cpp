// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/validation/optimizer_validation.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "d5/core/entries/entry_words.hpp"
#include "d5/core/errors/error.hpp"
#include "d5/level2_training/optimization/optimizer.hpp"

using namespace d5;

namespace {

/// SGD whose rate shrinks with a step count that its state leaves out.
class ForgetfulSgd final : public UpdateRuleOptimizer {
 public:
  using UpdateRuleOptimizer::UpdateRuleOptimizer;
  void new_input() override { ++step_; }
  void update_rule(const Tensor& gradient, Parameter& parameter, std::size_t) override {
    for (std::int64_t i = 0; i < gradient.elements(); ++i) {
      parameter.value.data<float>()[i] -= 0.01f / float(step_) * gradient.data<float>()[i];
    }
  }
  ValueMap rule_state() const override { return {}; }
  void restore_rule(const ValueMap&) override {}

 private:
  int step_ = 0;
};

/// Goes up the gradient.
class ClimbingSgd final : public UpdateRuleOptimizer {
 public:
  using UpdateRuleOptimizer::UpdateRuleOptimizer;
  void update_rule(const Tensor& gradient, Parameter& parameter, std::size_t) override {
    for (std::int64_t i = 0; i < gradient.elements(); ++i) {
      parameter.value.data<float>()[i] += 0.01f * gradient.data<float>()[i];
    }
  }
  ValueMap rule_state() const override { return {}; }
  void restore_rule(const ValueMap&) override {}
};

const Measurement& named(const std::vector<Measurement>& results, const std::string& metric) {
  return *std::ranges::find(results, metric, &Measurement::metric);
}

}  // namespace

TEST_CASE("d5's optimizers are repeatable, resumable, and descend") {
  for (const auto& name : optimizers().names()) {
    CAPTURE(name);
    Settings settings;  // few where a step is several
    optimizers().at(name).offer(settings, "iterations", 2);
    const auto results = check_optimizer({name, settings}, {.steps = 4});
    REQUIRE(results.size() == 3);
    CHECK(named(results, "trajectory_difference").status == Status::skipped);
    CHECK(named(results, "optimizer_repeatability").samples == std::vector<double>{0, 0});
    CHECK(named(results, "loss_ratio").samples.at(0) < 1);
    CHECK_THAT(named(results, "loss_ratio").command,
               Catch::StartsWith("d5 optimizer check " + to_words({name, settings}) +
                                 " --framework reference") &&
                   Catch::EndsWith(" --steps 4 --seed 0"));
  }
}

TEST_CASE("an optimizer that should do the same judges: momentum of none is plain descent") {
  const auto same =
      check_optimizer({"momentum", {{"momentum", 0}}}, {.against = {"sgd"}, .steps = 4});
  CHECK(named(same, "trajectory_difference").status == Status::passed);
  CHECK(named(same, "trajectory_difference").conditions.at("against") == "sgd");
  CHECK(named(same, "rule_difference").status == Status::passed);
  const auto told = check_optimizer({"sgd", {{"learning_rate", 0.1}}},
                                    {.against = {"momentum", {{"momentum", 0}}}, .steps = 4});
  CHECK(named(told, "trajectory_difference").status == Status::passed);
  const auto other = check_optimizer({"adam"}, {.against = {"sgd"}, .steps = 2});
  CHECK(named(other, "trajectory_difference").status == Status::failed);
  CHECK(named(other, "rule_difference").status == Status::failed);
  Plot plot;
  const auto each = check_optimizer({"adam"}, {.against = {"sgd"},
                                               .steps = 2,
                                               .parameters = OptimizerCheck::Parameters::each,
                                               .drawn = &plot});
  CHECK(std::ranges::count(each, "parameter_difference_l2", &Measurement::metric) == 2 * 10);
  CHECK(plot.marks.size() == 2 * 10);  // LeNet-5 has ten parameters
}

TEST_CASE("an optimizer whose state is not whole, and one that climbs, fail") {
  optimizers().add("forgetful", OptimizerEntry::of<ForgetfulSgd>("leaves its step out"));
  optimizers().add("climbing", OptimizerEntry::of<ClimbingSgd>("goes up"));
  const auto forgetful = check_optimizer({"forgetful"}, {.steps = 4});
  CHECK(named(forgetful, "optimizer_repeatability").status == Status::failed);
  CHECK_THAT(named(forgetful, "optimizer_repeatability").reason, Catch::Contains("goes on"));
  CHECK(named(forgetful, "loss_ratio").status == Status::passed);
  const auto climbing = check_optimizer({"climbing"}, {.steps = 4});
  CHECK(named(climbing, "optimizer_repeatability").status == Status::passed);
  CHECK(named(climbing, "loss_ratio").status == Status::failed);
}

TEST_CASE("unknown names and wrong settings are refused") {
  CHECK_THROWS_AS(check_optimizer({"adm"}), NotFound);
  CHECK_THROWS_AS(check_optimizer({"adam", {{"beta3", 0.5}}}), NotFound);
  CHECK_THROWS_AS(check_optimizer({"adam"}, {.against = {"adm"}}), NotFound);
  CHECK_THROWS_AS(check_optimizer({"adam"}, {.steps = 1}), ValueError);
  CHECK_THROWS_WITH(entry_of_words("optimizer", "adam:beta1"),
                    Catch::Contains("optimizer 'adam:beta1'") && Catch::Contains("KEY=VALUE"));
}
