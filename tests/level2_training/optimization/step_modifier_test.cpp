// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/optimization/step_modifier.hpp"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "tests/level2_training/scripted_executor.hpp"

using namespace d5;

namespace {

using Pair = std::array<double, 2>;

/// w is {1, -2}, and bias {4}; their gradients are always {3, -4} and {12}.
std::shared_ptr<ThreeStepOptimizer> descent(const Settings& settings,
                                            DType dtype = DType::float64) {
  const auto tensor = [dtype](std::initializer_list<double> values) {
    Tensor result = Tensor::empty(dtype, {std::int64_t(values.size())});
    dispatch(FloatTypes{}, dtype, "test", [&]<class T>() {
      std::transform(values.begin(), values.end(), result.data<T>(),
                     [](double value) { return T(float(value)); });
    });
    return result;
  };
  auto executor = std::make_unique<test::ScriptedExecutor>(
      std::vector<std::pair<std::string, Tensor>>{{"w", tensor({1, -2})}, {"bias", tensor({4})}},
      [tensor](Network& network, std::int64_t) {
        network.parameter("w").gradient.copy_from(tensor({3, -4}));
        network.parameter("bias").gradient.copy_from(tensor({12}));
        return 0.5;
      });
  auto optimizer = open_optimizer("sgd", std::move(executor), "loss", settings);
  return std::dynamic_pointer_cast<ThreeStepOptimizer>(optimizer);
}

std::vector<double> parameters(Optimizer& optimizer) {
  std::vector<double> values;
  for (const char* name : {"w", "bias"}) {
    const Tensor& value = optimizer.executor().network().parameter(name).value;
    dispatch(FloatTypes{}, value.dtype(), "test", [&]<class T>() {
      for (const T element : value.span<T>()) values.push_back(double(float(element)));
    });
  }
  return values;
}

/// Multiplies the loss, and refuses the second step.
class Scale final : public StepModifier {
 public:
  std::string name() const override { return "scale"; }
  double loss_factor() const override { return 8; }
  bool wants_all_gradients() const override { return true; }
  bool gradients_final(ThreeStepOptimizer& optimizer, double& factor) override {
    seen = optimizer.executor().network().parameter("w").gradient.data<double>()[0];
    CHECK(factor == 1.0 / 8);
    return optimizer.steps() != 2;
  }
  void after_step(ThreeStepOptimizer&, const Batch&, const ValueMap&) override { ++updates; }
  double seen = 0;
  int updates = 0;
};

/// Tests see zeros.
class Zeros final : public StepModifier {
 public:
  std::string name() const override { return "zeros"; }
  void begin_test(ThreeStepOptimizer& optimizer) override {
    Tensor& w = optimizer.executor().network().parameter("w").value;
    kept_ = w.copy();
    w.copy_from(Tensor::zeros(w.dtype(), w.shape()));
  }
  void end_test(ThreeStepOptimizer& optimizer) override {
    optimizer.executor().network().parameter("w").value.copy_from(kept_);
  }

 private:
  Tensor kept_;
};

}  // namespace

TEST_CASE("clip_norm limits the norm of all gradients together") {
  // The norm is 13.
  const auto clipped =
      descent({{"learning_rate", 1}, {"modifiers.0.name", "clip_norm"}, {"modifiers.0.most", 6.5}});
  clipped->step({});
  CHECK(parameters(*clipped) == std::vector<double>{1 - 1.5, -2 + 2, 4 - 6});
  const auto free =
      descent({{"learning_rate", 1}, {"modifiers.0.name", "clip_norm"}, {"modifiers.0.most", 13}});
  free->step({});
  CHECK(parameters(*free) == std::vector<double>{-2, 2, -8});
}

TEST_CASE("clip_norm is a factor in the update: no sweep over the gradients of its own") {
  for (const char* most : {"0.5", "100"}) {
    const auto optimizer = descent(
        {{"learning_rate", 1}, {"modifiers.0.name", "clip_norm"}, {"modifiers.0.most", most}});
    optimizer->step({});
    std::vector<double> gradients;
    for (const Parameter& parameter : optimizer->executor().network().parameters()) {
      const auto values = parameter.gradient.span<double>();
      gradients.insert(gradients.end(), values.begin(), values.end());
    }
    CHECK(gradients == std::vector<double>{3, -4, 12});
  }
}

TEST_CASE("clip_value limits each element, clip_tensor_norm each parameter's norm") {
  const auto by_value = descent(
      {{"learning_rate", 1}, {"modifiers.0.name", "clip_value"}, {"modifiers.0.most", 3.5}});
  by_value->step({});
  CHECK(parameters(*by_value) == std::vector<double>{1 - 3, -2 + 3.5, 4 - 3.5});
  const auto by_norm = descent(
      {{"learning_rate", 1}, {"modifiers.0.name", "clip_tensor_norm"}, {"modifiers.0.most", 2.5}});
  by_norm->step({});
  CHECK(parameters(*by_norm) == std::vector<double>{1 - 1.5, -2 + 2, 4 - 2.5});
}

TEST_CASE("what is clipped under a factor on the loss is the gradient without it") {
  for (const char* name : {"clip_value", "clip_tensor_norm", "clip_norm"}) {
    CAPTURE(name);
    const auto step = [&](const Settings& settings) {
      const auto optimizer = descent(settings);
      optimizer->step({});
      return parameters(*optimizer);
    };
    CHECK(step({{"learning_rate", 1},
                {"modifiers.0.name", "loss_scale"},
                {"modifiers.1.name", name},
                {"modifiers.1.most", 2.5}}) ==
          step({{"learning_rate", 1}, {"modifiers.0.name", name}, {"modifiers.0.most", 2.5}}));
  }
}

TEST_CASE("a factor on the loss leaves the update as it is, and a refused step updates nothing") {
  const auto optimizer = descent({{"learning_rate", 1}});
  const auto scale = std::make_shared<Scale>();
  optimizer->add(scale);
  optimizer->step({});
  CHECK(scale->seen == 24);
  CHECK(parameters(*optimizer) == std::vector<double>{-2, 2, -8});
  optimizer->step({});
  CHECK(parameters(*optimizer) == std::vector<double>{-2, 2, -8});
  optimizer->step({});
  CHECK(parameters(*optimizer) == std::vector<double>{-5, 6, -20});
  CHECK(scale->updates == 2);
  CHECK(optimizer->refused_steps() == 1);
}

TEST_CASE("loss_scale halves where a gradient overflows, and doubles after good steps") {
  const auto infinity = std::numeric_limits<double>::infinity();
  auto executor = std::make_unique<test::ScriptedExecutor>(
      std::vector<std::pair<std::string, Tensor>>{{"w", Tensor::of<double>({1}, {0})}},
      [infinity](Network& network, std::int64_t step) {
        const bool overflows = step == 0 || step == 4;
        network.parameter("w").gradient.data<double>()[0] = overflows ? infinity : -1;
        return 1.0;
      });
  const auto optimizer = std::dynamic_pointer_cast<ThreeStepOptimizer>(
      open_optimizer("sgd", std::move(executor), "loss",
                     {{"learning_rate", 1},
                      {"modifiers.0.name", "loss_scale"},
                      {"modifiers.0.initial", 8},
                      {"modifiers.0.every", 2}}));
  const auto scale = [&] {
    return optimizer->state().at("modifier/loss_scale/scale").tensor().item<double>();
  };
  const double scales[] = {4, 4, 8, 8, 4, 4, 8}, values[] = {0, 1, 2, 3, 3, 4, 5};
  for (int step = 0; step < 7; ++step) {
    CAPTURE(step);
    optimizer->step({});
    CHECK(scale() == scales[step]);
    CHECK(optimizer->executor().network().parameter("w").value.item<double>() == values[step]);
  }
  CHECK(optimizer->refused_steps() == 2);
}

TEST_CASE("test runs have the parameters that a modifier lends, training its own") {
  const auto optimizer = descent({{"learning_rate", 1}});
  optimizer->add(std::make_shared<Zeros>());
  {
    const TestParameters lent(*optimizer);
    CHECK(parameters(*optimizer) == std::vector<double>{0, 0, 4});
  }
  CHECK(parameters(*optimizer) == std::vector<double>{1, -2, 4});
}

TEST_CASE("a hyper-parameter changes between steps, a group's in proportion") {
  const auto optimizer =
      descent({{"learning_rate", 0.5}, {"groups.0.name", "b*"}, {"groups.0.learning_rate", 0.25}});
  optimizer->step({});
  CHECK(parameters(*optimizer) == std::vector<double>{1 - 1.5, -2 + 2, 4 - 3});
  optimizer->hyper_parameters().set("learning_rate", 1);
  optimizer->step({});
  CHECK(parameters(*optimizer) == std::vector<double>{-0.5 - 3, 0 + 4, 1 - 6});
  CHECK(optimizer->hyper_parameters().names() ==
        std::vector<std::string>{"learning_rate", "weight_decay"});
  CHECK_THROWS_AS(optimizer->hyper_parameters().set("learning_rate", NAN), ValueError);
  CHECK_THROWS_AS(optimizer->hyper_parameters().set("momentum", 1), NotFound);
}

TEST_CASE("a group that matches nothing, and an option that a group has not, are refused") {
  CHECK_THROWS_AS(descent({{"groups.0.name", "*"}}), ValueError);
  CHECK_THROWS_AS(descent({{"groups.0.name", "*.weight"}, {"groups.0.learning_rate", 1}}),
                  NotFound);
  CHECK_THROWS_AS(descent({{"groups.0.name", "*"}, {"groups.0.momentum", 1}}), NotFound);
  CHECK_THROWS_AS(descent({{"modifiers.0.name", "clip_norms"}}), NotFound);
}

TEST_CASE("parameters of 16 bits keep what a step below their rounding adds") {
  // Steps of 3/1024 do not change a bfloat16 of 1 alone: its neighbours are 1/256 and 1/128 away.
  const auto optimizer = descent({{"learning_rate", 1.0 / 1024}}, DType::bfloat16);
  for (int step = 0; step < 64; ++step) optimizer->step({});
  CHECK(parameters(*optimizer)[0] == 1 - 64 * 3.0 / 1024);
  // Setting a parameter sets its master, too.
  Tensor& w = optimizer->executor().network().parameter("w").value;
  dispatch(FloatTypes{}, w.dtype(), "test", [&]<class T>() { w.data<T>()[0] = T(2.0f); });
  optimizer->step({});
  CHECK(parameters(*optimizer)[0] == 2);  // 2 - 3/1024 rounds to 2
}
