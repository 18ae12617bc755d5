// SPDX-License-Identifier: Apache-2.0
// The judge of gradients, where the function has a kink, a jump or no value.
#include <cmath>
#include <limits>

#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Catch::Matchers::Contains;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// The slope that backward says of a rectifier or a floor, at the place where it has none and, as
/// a factor, elsewhere.
struct Planted {
  double at_kink = 0, factor = 1, at_jump = 0, elsewhere = 0;
};
Planted planted;

template <bool kJumps>
class PlantedKernel final : public Kernel {
 public:
  void forward(OpContext& context) override {
    const auto x = context.input(0).span<double>();
    double* y = context.output(0).data<double>();
    for (const double value : x) *y++ = kJumps ? std::floor(value) : std::fmax(value, 0.0);
  }
  void backward(GradContext& context) override {
    const auto x = context.input(0).span<double>();
    const double* dy = context.grad_output(0).data<double>();
    double* dx = context.grad_input(0).data<double>();
    for (std::size_t i = 0; i < x.size(); ++i) dx[i] = dy[i] == 0 ? 0 : dy[i] * slope(x[i]);
  }

 private:
  static double slope(double x) {
    if (kJumps) return x == std::floor(x) ? planted.at_jump : planted.elsewhere;
    return x == 0 ? planted.at_kink : x > 0 ? planted.factor : 0;
  }
};

template <bool kJumps>
class PlantedOperator final : public ElementwiseOperator {
 public:
  std::vector<ValueDesc> infer(const InferContext& context) const override {
    return {context.input(0)};
  }
  Places gradients() const override { return {0}; }
  std::unique_ptr<Kernel> plan(PlanContext&) const override {
    return std::make_unique<PlantedKernel<kJumps>>();
  }
};

Measurement check(const std::string& line, const Planted& what,
                  GradientMode mode = GradientMode::automatic) {
  static const bool once = [] {
    add_framework("sharp", "1", [](Framework& framework) {
      auto& registry = framework.part<OperatorRegistry>();
      registry.add("Relu", {},
                   [](const onnx::Node&) { return std::make_unique<PlantedOperator<false>>(); });
      registry.add("Floor", {},
                   [](const onnx::Node&) { return std::make_unique<PlantedOperator<true>>(); });
    });
    return true;
  }();
  (void)once;
  planted = what;
  const auto records = test_gradient(parse_case(line, 3), "sharp", {.mode = mode});
  REQUIRE(records.size() == 1);
  return records[0];
}

const std::string kFour = "Relu {-1,0,0,2}";

}  // namespace

TEST_CASE(
    "on a kink every slope between those beside it is right, and the row counts such places") {
  const auto mode = GENERATE(GradientMode::full, GradientMode::projection);
  for (const double slope : {0.0, 0.25, 0.5, 1.0}) {
    const Measurement record = check(kFour, {.at_kink = slope}, mode);
    INFO(record.reason);
    CHECK(record.status == Status::passed);
    CHECK(record.samples.at(0) < 1e-5);
    CHECK_THAT(record.conditions.at("kinks").text(), Contains("2 of 4"));
    CHECK_FALSE(record.conditions.contains("jumps"));
  }
  CHECK_FALSE(check("Relu {-1,1}", {}, mode).conditions.contains("kinks"));
}

TEST_CASE("a slope outside of those beside the kink is found") {
  const auto mode = GENERATE(GradientMode::full, GradientMode::projection);
  for (const double slope : {-0.001, 1.001, 2.0, -1.0, kNaN, HUGE_VAL}) {
    const Measurement record = check(kFour, {.at_kink = slope}, mode);
    CHECK(record.status == Status::failed);
    CHECK_THAT(record.reason, Contains("slopes beside the kink are 0 to "));
    CHECK(check("Relu 40x40~2", {.at_kink = slope}, mode).status == Status::failed);
  }
}

TEST_CASE("what is wrong beside kinks is found however many of them there are") {
  for (const char* line : {"Relu {-1,0,0,2}", "Relu 4x4~2", "Relu 40x40~2"}) {
    for (const double factor : {1.001, 0.0, 2.0}) {
      const auto mode = GENERATE(GradientMode::automatic, GradientMode::projection);
      CHECK(check(line, {.factor = factor}, mode).status == Status::failed);
    }
    CHECK(check(line, {}).status == Status::passed);
  }
}

TEST_CASE("a kink that only the wider step reaches is none") {
  CHECK(check("Relu {3e-7,-3e-7,5e-8}", {}).status == Status::passed);
  CHECK_FALSE(check("Relu {3e-7,-3e-7}", {}).conditions.contains("kinks"));
  CHECK(check("Relu {3e-7}", {.factor = 0.65}).status == Status::failed);
}

TEST_CASE("a jump has no slope: the one beside it is right, and the row says so") {
  const auto mode = GENERATE(GradientMode::full, GradientMode::projection);
  const Measurement right = check("Floor {-1,0,0.5,2}", {}, mode);
  CHECK(right.status == Status::passed);
  CHECK_THAT(right.conditions.at("jumps").text(), Contains("3 of 4"));
  CHECK_FALSE(right.conditions.contains("kinks"));
  for (const double slope : {0.01, 1.0, -5.0, 1e6, kNaN}) {
    CHECK(check("Floor {-1,0,0.5,2}", {.at_jump = slope}, mode).status == Status::failed);
    CHECK(check("Floor {-1,0,0.5,2}", {.elsewhere = slope}, mode).status == Status::failed);
  }
  CHECK(check("Floor 40x40~2", {}).status == Status::passed);
  CHECK(check("Floor 40x40~2", {.at_jump = 1}).status == Status::failed);
}

TEST_CASE(
    "outputs that are NaN or infinite are not compared, and a row of mostly such is mistrusted") {
  const auto of = [](const std::string& line) {
    return test_gradient(parse_case(line), "reference").at(0);
  };
  const Measurement some = of("Sqrt {-2,1,4}");
  CHECK(some.status == Status::passed);
  CHECK_THAT(some.conditions.at("undefined places").text(), Contains("1 of 3"));
  CHECK(of("Sqrt {0,1,4}").status == Status::passed);  // its slope at 0 has no end
  for (const char* many : {"Sqrt 16x16~2", "Sqrt 16x16~1"}) {
    const auto record =
        test_gradient(parse_case(many), "reference", {.mode = GradientMode::projection}).at(0);
    INFO(record.reason);
    CHECK(record.status == Status::mistrusted);
    CHECK_THAT(record.reason, Contains("NaN or infinite in") && Contains("of 256 places"));
    CHECK(record.conditions.contains("undefined places"));
  }
  const Measurement none = of("Sqrt {-2,-1}");
  CHECK(none.status == Status::mistrusted);
  CHECK_THAT(none.reason, Contains("NaN or infinite in 2 of 2 places") && Contains("give inputs"));
}

TEST_CASE("equal numbers share a slope in any way that adds up") {
  // Among three equal numbers the second largest moves with none of them alone.
  const auto status = [](const std::string& line, GradientMode mode) {
    const auto record = test_gradient(parse_case(line), "reference", {.mode = mode}).at(0);
    INFO(record.reason);
    CHECK(record.conditions.contains("kinks"));
    return record.status;
  };
  for (const auto mode : {GradientMode::full, GradientMode::projection}) {
    CHECK(status("TopK 1x3{2,2,2} int64:1{3} outputs=2", mode) == Status::passed);
    CHECK(status("ReduceMax {2,2,1}", mode) == Status::passed);
    CHECK(status("MaxPool 1x1x4{1,1,1,0} kernel_shape=2", mode) == Status::passed);
  }
}
