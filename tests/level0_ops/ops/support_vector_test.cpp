// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;

// All values are ONNX Runtime's, but for the softmax of two scores of one, which it leaves out.
using Floats = std::vector<float>;

namespace {

void near(const Floats& got, const Floats& expected) {
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(expected[i]).epsilon(1e-5));
}

const std::string kX = " 2x2{1,2,-1,0.5} ";
const std::string kTwo = "support_vectors=1x2x0x1x-1x0 coefficients=0.5x-0.5x0.25 ";
const std::string kThree =
    "support_vectors=1x2x0x1x-1x0x0.5x0.5 coefficients=0.5x-0.5x0.25x0.3x0.2x-0.1x0.6x-0.7 "
    "vectors_per_class=2x1x1 rho=0.1x-0.2x0.3 classlabels_ints=5x6x7 kernel_params=0.5x0.1x3 "
    "outputs=2 kernel_type=";

std::string three(const std::string& rest) {
  return "ai.onnx.ml.SVMClassifier" + kX + kThree + rest;
}
std::string two(const std::string& rest) {
  return "ai.onnx.ml.SVMClassifier" + kX + kTwo +
         "vectors_per_class=2x1 rho=-0.2 classlabels_strings=a,b kernel_type=RBF "
         "kernel_params=0.5x0x3 outputs=2 " +
         rest;
}
std::string svm_regressor(const std::string& rest) {
  return "ai.onnx.ml.SVMRegressor" + kX + kTwo + "n_supports=3 kernel_params=0.5x0.1x3 " + rest;
}

}  // namespace

TEST_CASE("SVMClassifier scores each pair of classes, and takes the class with most votes") {
  CHECK(result_of<std::int64_t>(three("RBF")) == std::vector<std::int64_t>{5, 5});
  near(result_of(three("LINEAR"), 1), {1.35f, 1.05f, -1.35f, 0.1f, -0.325f, 1.075f});
  near(result_of(three("POLY"), 1),
       {8.20649910f, 3.36633706f, -0.168287486f, 0.133062512f, -0.204092190f, 0.429610968f});
  near(result_of(three("RBF"), 1),
       {0.420639187f, 0.0491635017f, 0.110436037f, 0.0749619678f, -0.147343025f, 0.602241457f});
  near(result_of(three("SIGMOID"), 1),
       {0.0992769301f, 0.125076443f, -0.411718071f, 0.115908623f, -0.221202388f, 0.639726162f});
}

TEST_CASE("SVMClassifier couples the probabilities of pairs") {
  const std::string rest = " prob_a=-1x-2x-0.5 prob_b=0.1x0.2x0.3";
  near(result_of(three("RBF" + rest), 1),
       {0.351889312f, 0.275323689f, 0.372786969f, 0.275100380f, 0.339777827f, 0.385121733f});
  near(result_of(three("POLY" + rest), 1),
       {0.998479545f, 0.000224567106f, 0.00129596563f, 0.265952557f, 0.325117797f, 0.408929676f});
}

TEST_CASE("SVMClassifier makes two scores of one") {
  CHECK(result_of<std::string>(two("")) == std::vector<std::string>{"a", "b"});
  near(result_of(two(""), 1), {-0.120639183f, 0.120639183f, 0.225038037f, -0.225038037f});
  near(result_of(two("post_transform=LOGISTIC"), 1),
       {0.469876707f, 0.530123293f, 0.556023300f, 0.443976700f});
  near(result_of(two("post_transform=SOFTMAX"), 1),
       {0.439971342f, 0.560028658f, 0.610657321f, 0.389342679f});
}

TEST_CASE("SVMRegressor sums its kernels") {
  near(result_of(svm_regressor("rho=0.1 kernel_type=LINEAR")), {1.35f, 0.1f});
  near(result_of(svm_regressor("rho=0.1 kernel_type=POLY")), {8.20650005f, 0.133062512f});
  near(result_of(svm_regressor("rho=0.1 kernel_type=RBF")), {0.420639187f, 0.0749619678f});
  near(result_of(svm_regressor("rho=0.1 kernel_type=SIGMOID")), {0.0992769301f, 0.115908630f});
}

TEST_CASE("SVMRegressor of one class says inside or outside") {
  CHECK(result_of(svm_regressor("rho=-0.1 kernel_type=RBF one_class=1")) == Floats{1, -1});
}

TEST_CASE("SVMRegressor's gradient is that of its kernel") {
  // One vector v = (3, -1) at x = (1, 2), so that x . v = 1 and |x - v|^2 = 13.
  const auto gradient = [](const std::string& rest) {
    OperatorRunner runner = run_case(
        "ai.onnx.ml.SVMRegressor 1x2{1,2} support_vectors=3x-1 "
        "coefficients=2 n_supports=1 rho=0 " +
            rest,
        Mode::training);
    runner.backward({Tensor::of<float>({1, 1}, {10})});
    const auto grad = runner.grad_input(0).span<float>();
    return Floats(grad.begin(), grad.end());
  };
  near(gradient("kernel_type=LINEAR"), {60, -20});
  const std::string parameters = "kernel_params=0.5x0.25x3 kernel_type=";
  const float poly = 20 * 0.5f * 3 * 0.75f * 0.75f;
  near(gradient(parameters + "POLY"), {poly * 3, -poly});
  const float rbf = 20 * -2 * 0.5f * std::exp(-6.5f);
  near(gradient(parameters + "RBF"), {rbf * -2, rbf * 3});
  const float y = std::tanh(0.75f), sigmoid = 20 * 0.5f * (1 - y * y);
  near(gradient(parameters + "SIGMOID"), {sigmoid * 3, -sigmoid});
  near(gradient(parameters + "RBF one_class=1"), {0, 0});
  CHECK_THROWS_AS(gradient("post_transform=PROBIT"), Unsupported);
}

TEST_CASE("without support vectors, coefficients are a plane") {
  near(result_of("ai.onnx.ml.SVMRegressor" + kX + "coefficients=0.5x-0.5 rho=0.1"),
       {-0.4f, -0.65f});
  CHECK(result_of<std::int64_t>("ai.onnx.ml.SVMClassifier" + kX +
                                "coefficients=1x0x0x1 rho=0 classlabels_ints=5x6 outputs=2") ==
        std::vector<std::int64_t>{6, 6});
}

TEST_CASE("support vector machines refuse lists that do not fit") {
  CHECK_THROWS_AS(run_case(three("TANH")), ValueError);
  CHECK_THROWS_AS(run_case(three("RBF prob_a=1 prob_b=1")), ValueError);
  CHECK_THROWS_AS(run_case(two("prob_a=1")), ValueError);
  CHECK_THROWS_AS(run_case(svm_regressor("rho=0.1x0.2")), ValueError);
  CHECK_THROWS_AS(
      run_case("ai.onnx.ml.SVMRegressor 2x3 " + kTwo + "n_supports=3 rho=0 kernel_params=1x0x0"),
      ShapeError);
  CHECK_THROWS_AS(run_case("ai.onnx.ml.SVMRegressor 2x2 " + kTwo + "n_supports=-1 rho=0"),
                  ValueError);
  CHECK_THROWS_AS(
      run_case("ai.onnx.ml.SVMRegressor 2x2 " + kTwo + "n_supports=3 rho=0 kernel_type=RBF"),
      ValueError);
  const std::string line =
      "ai.onnx.ml.SVMClassifier 1x2 support_vectors=1x2x3x4 rho=0 "
      "coefficients=1x2 classlabels_ints=5x6 outputs=2 vectors_per_class=";
  CHECK_THROWS_AS(run_case(line + "3x-1"), ValueError);
  CHECK_THROWS_AS(run_case(line + "9223372036854775807x1"), ValueError);
  CHECK_THROWS_AS(run_case(line + "2"), ValueError);
}
