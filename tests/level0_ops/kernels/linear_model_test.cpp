// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;

using Floats = std::vector<float>;
using Integers = std::vector<std::int64_t>;

namespace {

void near(const Floats& got, const Floats& expected) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(expected[i]).margin(1e-6));
}

/// The gradient of input 0, a row, for those of the outputs, rows too; none for an empty one.
Floats gradient(const std::string& line, const std::vector<Floats>& outputs) {
  OperatorRunner runner = run_case(line, Mode::training);
  std::vector<Tensor> gradients;
  for (const Floats& values : outputs) {
    gradients.push_back(
        values.empty() ? Tensor() : Tensor::of<float>({1, std::int64_t(values.size())}, values));
  }
  runner.backward(gradients);
  const auto grad = runner.grad_input(0).span<float>();
  return {grad.begin(), grad.end()};
}

const std::string kThree =
    "ai.onnx.ml.LinearClassifier 2x2{1,2,-1,0.5} coefficients=0.125x0.25x-0.25x0.5x0x0.125 "
    "intercepts=0.125x0.25x0 classlabels_ints=5x6x7 outputs=2 post_transform=";
const std::string kTwo =
    "ai.onnx.ml.LinearClassifier 2x2{1,2,-1,0.5} coefficients=0.5x0.25 intercepts=-0.5 "
    "classlabels_strings=a,b outputs=2 post_transform=";
const std::string kTargets =
    "ai.onnx.ml.LinearRegressor 2x2{0.25,0.5,0.75,0.25} coefficients=1x0x0x1 targets=2 "
    "post_transform=";

}  // namespace

TEST_CASE("LinearClassifier chooses the class of the largest score") {
  CHECK(result_of<std::int64_t>(kThree + "NONE") == Integers{6, 6});
  CHECK(result_of(kThree + "NONE", 1) == Floats{0.75, 1, 0.25, 0.125, 0.75, 0.0625});
  CHECK(shape_of("ai.onnx.ml.LinearClassifier 2 coefficients=1x2x3x4 classlabels_ints=5x6 "
                 "outputs=2",
                 1) == "1x2");
}

TEST_CASE("LinearClassifier tells two classes apart by one score") {
  CHECK(result_of<std::string>(kTwo + "NONE") == std::vector<std::string>{"b", "a"});
  CHECK(result_of(kTwo + "NONE", 1) == Floats{-0.5, 0.5, 0.875, -0.875});
}

// The values of the next two are ONNX Runtime's, but for the softmax of two scores of one, which is
// that of ONNX's reference implementation: ONNX Runtime leaves it out.
TEST_CASE("LinearClassifier transforms its scores") {
  near(result_of(kThree + "SOFTMAX", 1),
       {0.345954210f, 0.444213986f, 0.209831819f, 0.262628555f, 0.490654737f, 0.246716693f});
  near(result_of(kThree + "LOGISTIC", 1),
       {0.679178715f, 0.731058598f, 0.562176466f, 0.531209350f, 0.679178715f, 0.515619934f});
  near(result_of(kTwo + "LOGISTIC", 1), {0.377540648f, 0.622459352f, 0.705785036f, 0.294214964f});
  near(result_of(kTwo + "SOFTMAX", 1), {0.268941421f, 0.731058579f, 0.851952802f, 0.148047198f});
}

TEST_CASE("LinearRegressor transforms its scores") {
  near(result_of(kTargets + "SOFTMAX"), {0.437823504f, 0.562176526f, 0.622459352f, 0.377540678f});
  near(result_of(kTargets + "LOGISTIC"), {0.562176466f, 0.622459292f, 0.679178715f, 0.562176466f});
  near(result_of(kTargets + "PROBIT"), {-0.674574316f, 0, 0.674574316f, -0.674574316f});
}

TEST_CASE("a softmax that keeps zeros leaves them out") {
  const std::string line =
      "ai.onnx.ml.LinearRegressor 1x3{0,1,2} targets=3 "
      "coefficients=1x0x0x0x1x0x0x0x1 post_transform=SOFTMAX_ZERO";
  near(result_of(line), {0, 0.268941421f, 0.731058579f});  // the logistic of -1 and of 1
}

TEST_CASE("a linear model's gradient is its coefficients") {
  CHECK(gradient("ai.onnx.ml.LinearRegressor 1x2 coefficients=1x2x3x4 targets=2", {{5, 6}}) ==
        Floats{23, 34});
  const std::string line =
      "ai.onnx.ml.LinearClassifier 1x2 outputs=2 classlabels_ints=5x6 coefficients=";
  CHECK(gradient(line + "1x2x3x4", {{}, {5, 6}}) == Floats{23, 34});
  CHECK(gradient(line + "1x2", {{}, {5, 6}}) == Floats{1, 2});
}

TEST_CASE("a linear model's gradient goes through its transform") {
  // Scores are 0 and log 3: a softmax of 1/4 and 3/4, logistics of 1/2 and 3/4.
  const std::string rest = " coefficients=1x0x0x1 targets=2 post_transform=";
  const std::string line = "ai.onnx.ml.LinearRegressor 1x2{0,1.0986123}" + rest;
  near(gradient(line + "SOFTMAX", {{1, 0}}), {3 / 16.f, -3 / 16.f});
  near(gradient(line + "LOGISTIC", {{1, 2}}), {1 / 4.f, 6 / 16.f});
  // One score of log 3: 1/4 and 3/4.
  near(gradient("ai.onnx.ml.LinearClassifier 1x1{1.0986123} coefficients=2 classlabels_ints=5x6 "
                "intercepts=-1.0986123 outputs=2 post_transform=LOGISTIC",
                {{}, {1, 2}}),
       {2 * 3 / 16.f});
  CHECK_THROWS_AS(run_case(line + "PROBIT", Mode::training), Unsupported);
  CHECK_THROWS_AS(run_case(line + "SOFTMAX_ZERO", Mode::training), Unsupported);
}

TEST_CASE("linear models refuse coefficients that do not fit") {
  const std::string regressor = "ai.onnx.ml.LinearRegressor 2x3 ";
  CHECK_THROWS_AS(run_case(regressor + "coefficients=1x2"), ShapeError);
  CHECK_THROWS_AS(run_case(regressor), ShapeError);
  CHECK_THROWS_AS(run_case(regressor + "coefficients=1x2x3 targets=0"), ShapeError);
  CHECK_THROWS_AS(run_case(regressor + "coefficients=1x2x3 targets=9223372036854775807"),
                  ShapeError);
  CHECK_THROWS_AS(run_case(regressor + "coefficients=1x2x3 intercepts=1x2"), ValueError);
  CHECK_THROWS_AS(run_case(regressor + "coefficients=1x2x3 post_transform=TANH"), ValueError);
  CHECK_THROWS_AS(run_case("ai.onnx.ml.LinearRegressor 2x3x1 coefficients=1x2x3"), ShapeError);
  CHECK_THROWS_AS(run_case("ai.onnx.ml.LinearClassifier 2x2 coefficients=1x2 outputs=2"),
                  ValueError);
}
