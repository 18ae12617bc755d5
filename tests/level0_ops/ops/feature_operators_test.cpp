// SPDX-License-Identifier: Apache-2.0
// Operators of ai.onnx.ml on rows of features. All but ArrayFeatureExtractor and Imputer write
// float32 whatever they read, so that no difference in float64 could judge their gradients: here
// they are compared with closed forms.
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;

namespace {

/// The gradient of input 0 for `dy`.
Floats gradient(const std::string& line, const Shape& shape, const Floats& dy) {
  OperatorRunner runner = run_case(line, Mode::training);
  runner.backward({Tensor::of<float>(shape, dy)});
  const auto grad = runner.grad_input(0).span<float>();
  return {grad.begin(), grad.end()};
}

}  // namespace

TEST_CASE("ArrayFeatureExtractor takes columns by their places") {
  const std::string line = "ai.onnx.ml.ArrayFeatureExtractor ";
  CHECK(result_of(line + "2x3{1,2,3,4,5,6} int64:1x2{2,0}") == Floats{3, 1, 6, 4});
  CHECK(shape_of(line + "3 int64:1x2{2,0}") == "1x2");
  CHECK(shape_of(line + "2x3x4 int64:{1,1,0}") == "2x3x3");
  CHECK(shape_of(line + "2x3 int64:0") == "2x0");
  CHECK(result_of<std::string>(line + "string:1x2{a,b} int64:{1}") ==
        std::vector<std::string>{"b"});
  CHECK_THROWS_AS(run_case(line + "2x3 int64:{3}"), ValueError);
  CHECK_THROWS_AS(run_case(line + "2x3 int64:{-1}"), ValueError);
  CHECK_THROWS_AS(run_case(line + "scalar int64:{0}"), ShapeError);
  check_gradient(line + "2x3 int64:{2,0,2}", 1);
}

TEST_CASE("Binarizer is 1 above its threshold alone") {
  CHECK(result_of("ai.onnx.ml.Binarizer {-1,0.5,0.75,nan} threshold=0.5") == Floats{0, 0, 1, 0});
  CHECK(result_of<std::int64_t>("ai.onnx.ml.Binarizer int64:{0,1}") ==
        std::vector<std::int64_t>{0, 1});
}

TEST_CASE("FeatureVectorizer puts the columns of its inputs side by side") {
  const std::string line = "ai.onnx.ml.FeatureVectorizer ";
  CHECK(result_of(line + "2x2{1,2,3,4} 2x1{5,6} inputdimensions=2x1") == Floats{1, 2, 5, 3, 4, 6});
  CHECK(result_of(line + "2x2{1,2,3,4} 2x2{5,6,7,8} inputdimensions=1x3") ==
        Floats{1, 5, 6, 0, 3, 7, 8, 0});
  CHECK(result_of(line + "int64:{1,2} int64:{3}") == Floats{1, 2, 3});
  CHECK(shape_of(line + "0x2 0x3") == "0x5");
  CHECK_THROWS_AS(run_case(line + "2x2 3x2"), ShapeError);
  CHECK_THROWS_AS(run_case(line + "2x2 2x2 inputdimensions=2"), ValueError);
  CHECK_THROWS_AS(run_case(line + "2x2 inputdimensions=-1"), ValueError);
  CHECK(gradient(line + "1x2 1x1 inputdimensions=1x1", {1, 2}, {5, 6}) == Floats{5, 0});
}

TEST_CASE("Imputer replaces one value, which may be NaN") {
  const std::string line = "ai.onnx.ml.Imputer ";
  CHECK(result_of(line + "2x2{1,nan,nan,4} imputed_value_floats=7 replaced_value_float=nan") ==
        Floats{1, 7, 7, 4});
  CHECK(result_of(line + "2x2{0,2,3,0} imputed_value_floats=7x8") == Floats{7, 2, 3, 8});
  CHECK(result_of<std::int64_t>(line + "int64:{1,2} imputed_value_int64s=9 "
                                       "replaced_value_int64=2") ==
        std::vector<std::int64_t>{1, 9});
  CHECK_THROWS_AS(run_case(line + "2x2 imputed_value_floats=7x8x9"), ShapeError);
  CHECK_THROWS_AS(run_case(line + "2x2 imputed_value_int64s=7"), ValueError);
  CHECK_THROWS_AS(run_case(line + "int32:{1} imputed_value_int64s=3000000000"), ValueError);
  CHECK(gradient(line + "{1,0} imputed_value_floats=7", {2}, {5, 6}) == Floats{5, 0});
}

TEST_CASE("Normalizer divides each row by its largest element or by a norm") {
  const std::string line = "ai.onnx.ml.Normalizer ";
  CHECK(result_of(line + "2x2{1,-2,3,4} norm=L1") == Floats{1.f / 3, -2.f / 3, 3.f / 7, 4.f / 7});
  CHECK(result_of(line + "2x2{3,4,0,0} norm=L2") == Floats{0.6f, 0.8f, 0, 0});
  CHECK(result_of(line + "2x2{1,-2,-2,-4} norm=MAX") == Floats{1, -2, 1, 2});
  CHECK(result_of(line + "int32:{2,4}") == Floats{0.5, 1});
  CHECK(shape_of(line + "2x0") == "2x0");
  CHECK_THROWS_AS(run_case(line + "2x2 norm=L3"), ValueError);
  CHECK_THROWS_AS(run_case(line + "2x2x2"), ShapeError);
}

TEST_CASE("Normalizer's gradient is that of x / d(x)") {
  const std::string line = "ai.onnx.ml.Normalizer 1x2{3,4} norm=";
  const auto near = [](float a, float b, const Floats& got) {
    CHECK(got.at(0) == Approx(a));
    CHECK(got.at(1) == Approx(b));
  };
  // dx = dy / d - (dy . x) / d^2 * d', with d' = x / d, sign(x), or 1 at the largest.
  near(1 / 5.f - 9 / 125.f, -12 / 125.f, gradient(line + "L2", {1, 2}, {1, 0}));
  near(1 / 7.f - 3 / 49.f, -3 / 49.f, gradient(line + "L1", {1, 2}, {1, 0}));
  near(1 / 4.f, -3 / 16.f, gradient(line + "MAX", {1, 2}, {1, 0}));
  CHECK(gradient("ai.onnx.ml.Normalizer 1x2{0,0} norm=L2", {1, 2}, {5, 6}) == Floats{5, 6});
}

TEST_CASE("Scaler subtracts an offset, then multiplies, for each feature or for all") {
  const std::string line = "ai.onnx.ml.Scaler ";
  CHECK(result_of(line + "2x2{1,2,3,4} offset=1x2 scale=2x3") == Floats{0, 0, 4, 6});
  CHECK(result_of(line + "int64:{1,2} offset=1 scale=0.5") == Floats{0, 0.5});
  CHECK(result_of(line + "{1,2} scale=3") == Floats{3, 6});
  CHECK_THROWS_AS(run_case(line + "2x2 offset=1x2x3 scale=1x2x3"), ShapeError);
  CHECK_THROWS_AS(run_case(line + "2x2 offset=1 scale=1x2"), ValueError);
  CHECK_THROWS_AS(run_case(line + "2x2"), ValueError);
  CHECK(gradient(line + "1x2 offset=1x2 scale=2x3", {1, 2}, {5, 6}) == Floats{10, 18});
}
