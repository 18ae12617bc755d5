// SPDX-License-Identifier: Apache-2.0
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Bytes = std::vector<std::uint8_t>;
using SignedBytes = std::vector<std::int8_t>;

TEST_CASE("QLinearAdd and QLinearMul compute with what the numbers stand for") {
  // {5, 10} and {1, 2}; results in halves from 1.
  const std::string inputs =
      " uint8:{12,22} {0.5} uint8:{2} uint8:{1,2} scalar{1} - {0.5} uint8:{1}";
  CHECK(result_of<std::uint8_t>("com.microsoft.QLinearAdd" + inputs) == Bytes{13, 25});
  CHECK(result_of<std::uint8_t>("com.microsoft.QLinearMul" + inputs) == Bytes{11, 41});
}

TEST_CASE("QLinear operators broadcast, saturate, and need no zero point") {
  CHECK(result_of<std::int8_t>("com.microsoft.QLinearAdd int8:2x1{100,-100} {1} - int8:{100,-100} "
                               "{1} - {1}") == SignedBytes{127, 0, 0, -128});
}

TEST_CASE("QLinear activations are those of what the numbers stand for") {
  CHECK(result_of<std::uint8_t>("com.microsoft.QLinearSigmoid uint8:{7} {1} uint8:{7} {0.125}") ==
        Bytes{4});
  CHECK(result_of<std::int8_t>("com.microsoft.QLinearLeakyRelu int8:{-10,10} {1} - {1} - "
                               "alpha=0.5") == SignedBytes{-5, 10});
  const std::string softmax =
      "com.microsoft.QLinearSoftmax uint8:2x2{3,3,3,3} {1} - {0.125} uint8:{1} ";
  CHECK(result_of<std::uint8_t>(softmax + "axis=1 opset=13") == Bytes{5, 5, 5, 5});
  // Before opset 13 all from the axis on is one row.
  CHECK(result_of<std::uint8_t>(softmax + "axis=0 opset=12") == Bytes{3, 3, 3, 3});
}

TEST_CASE("QLinear poolings average, with channels first or last") {
  const std::string pool = "com.microsoft.QLinearAveragePool ", scales = " {1} - {0.5} uint8:{1} ";
  CHECK(result_of<std::uint8_t>(pool + "uint8:1x2x2x1{1,3,10,30}" + scales + "kernel_shape=2x1") ==
        Bytes{5, 41});
  CHECK(result_of<std::uint8_t>(pool + "uint8:1x2x1x2{1,10,3,30}" + scales +
                                "kernel_shape=2x1 channels_last=1") == Bytes{5, 41});
  const std::string global = "com.microsoft.QLinearGlobalAveragePool ";
  CHECK(result_of<std::uint8_t>(
            global + "uint8:1x2x2x1{1,3,10,30} {1} uint8:{0} {0.5} uint8:{1}") == Bytes{5, 41});
  CHECK(result_of<std::uint8_t>(global + "uint8:1x2x1x2{1,10,3,30} {1} uint8:{0} {0.5} uint8:{1} "
                                         "channels_last=1") == Bytes{5, 41});
}

TEST_CASE("a QLinear average and its zero point are rounded together") {
  // 1.5 + 1 and 2.5 + 1; 300 and -300 saturate
  const std::string pool = "com.microsoft.QLinearAveragePool ";
  CHECK(result_of<std::uint8_t>(pool + "uint8:1x1x4{1,2,2,3} {1} - {1} uint8:{1} kernel_shape=2 "
                                       "strides=2") == Bytes{2, 4});
  CHECK(result_of<std::int8_t>(pool + "int8:1x1x4{100,100,-100,-100} {3} - {1} - kernel_shape=2 "
                                      "strides=2") == SignedBytes{127, -128});
}

TEST_CASE("QLinearConcat puts parts of several scales side by side") {
  const std::string line = "com.microsoft.QLinearConcat {1} uint8:{0} uint8:{2,4} {0.5} uint8:{0} ";
  CHECK(result_of<std::uint8_t>(line + "uint8:{3} {1} uint8:{1} axis=0") == Bytes{1, 2, 2});
  CHECK_THROWS_AS(run_case(line + "uint8:{3} {1} axis=0"), ShapeError);
}

TEST_CASE("a QLinear operator refuses a scale for each element, and another type") {
  CHECK_THROWS_AS(run_case("com.microsoft.QLinearSigmoid uint8:{1,2} {1,2} - {1} -"), ShapeError);
  CHECK_THROWS_AS(run_case("com.microsoft.QLinearSigmoid 2 {1} - {1} -"), TypeError);
}

TEST_CASE("com.microsoft quantizes and dequantizes as ONNX does") {
  CHECK(result_of<std::uint16_t>(
            "com.microsoft.QuantizeLinear {1,2} scalar{0.5} uint16:scalar{300}") ==
        std::vector<std::uint16_t>{302, 304});
  CHECK(
      result_of("com.microsoft.DequantizeLinear uint16:{302,304} scalar{0.5} uint16:scalar{300}") ==
      std::vector<float>{1, 2});
}
