// SPDX-License-Identifier: Apache-2.0
// MatMulInteger, QLinearMatMul, ConvInteger and QLinearConv.
#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Int32s = std::vector<std::int32_t>;
using Bytes = std::vector<std::uint8_t>;

TEST_CASE("MatMulInteger multiplies what lies above the zero points") {
  const std::string line = "MatMulInteger uint8:2x2{1,2,3,4} int8:2x2{-1,0,0,1} ";
  CHECK(result_of<std::int32_t>(line) == Int32s{-1, 2, -3, 4});
  CHECK(result_of<std::int32_t>(line + "uint8:scalar{1}") == Int32s{0, 1, -2, 3});
  // One for each row of A, one for each column of B.
  CHECK(result_of<std::int32_t>(line + "uint8:{1,3}") == Int32s{0, 1, 0, 1});
  CHECK(result_of<std::int32_t>(line + "- int8:{-1,1}") == Int32s{2, -1, 4, -3});
  CHECK(result_of<std::int32_t>(line + "uint8:2x1{1,3} int8:1x2{-1,1}") == Int32s{1, 0, 1, 0});
}

TEST_CASE("MatMulInteger takes vectors, stacks and empty matrices") {
  CHECK(result_of<std::int32_t>("MatMulInteger uint8:{1,2} uint8:{3,4}") == Int32s{11});
  CHECK(result_of<std::int32_t>("MatMulInteger uint8:2x1x2{1,2,3,4} uint8:2x1{5,6}") ==
        Int32s{17, 39});
  CHECK(result_of<std::int32_t>("MatMulInteger uint8:1x0 uint8:0x2") == Int32s{0, 0});
  CHECK(shape_of("MatMulInteger uint8:0x3 uint8:3x2") == "0x2");
}

TEST_CASE("MatMulInteger's largest products are exact") {
  CHECK(result_of<std::int32_t>(
            "MatMulInteger int8:1x2{-128,-128} uint8:2x1{255,255} int8:{127}") == Int32s{-130050});
}

TEST_CASE("MatMulInteger refuses what does not fit") {
  CHECK_THROWS_AS(run_case("MatMulInteger uint8:2x3 uint8:2x3"), ShapeError);
  CHECK_THROWS_WITH(run_case("MatMulInteger uint8:2x3 uint8:3x4 uint8:3"),
                    "MatMulInteger 'output0': input 2 (a_zero_point) is 3, expected one number or "
                    "one for each row of 2x3");
  CHECK_THROWS_AS(run_case("MatMulInteger uint8:2x3 uint8:3x4 - uint8:3x1"), ShapeError);
}

TEST_CASE("QLinearMatMul scales the sums and quantizes them again") {
  // (1, 2) (3, 4)^T = 11, times 2 * 0.5 / 4 = 2.75, which is 3 above the zero point.
  const std::string a = "QLinearMatMul uint8:1x2{2,3} scalar{2} uint8:scalar{1} ";
  CHECK(result_of<std::uint8_t>(a + "uint8:2x1{3,4} scalar{0.5} uint8:scalar{0} scalar{4} "
                                    "uint8:scalar{10}") == Bytes{13});
  // Columns with scales and zero points of their own.
  CHECK(result_of<std::uint8_t>(a + "uint8:2x2{3,3,4,4} {0.5,5} uint8:{0,1} scalar{4} "
                                    "uint8:scalar{10}") == Bytes{13, 30});
  // Rows as well; b is a vector.
  CHECK(result_of<std::uint8_t>("QLinearMatMul uint8:2x2{1,2,3,4} {1,2} uint8:{0,1} uint8:{1,1} "
                                "scalar{1} uint8:scalar{0} scalar{1} uint8:scalar{0}") ==
        Bytes{3, 10});
  CHECK(result_of<std::uint8_t>(a + "uint8:2x1{255,255} scalar{9} uint8:scalar{0} scalar{1} "
                                    "uint8:scalar{0}") == Bytes{255});
}

TEST_CASE("QLinearMatMul takes float8, which is not rounded to integers") {
  using F8 = Float8E4M3FN;
  const Value scale = Tensor::scalar(1.0f), zero = Tensor::scalar(F8(0.0f));
  const Value a = Tensor::of<F8>({1, 2}, {F8(0.5f), F8(1.0f)});
  const Value b = Tensor::of<F8>({2, 1}, {F8(1.0f), F8(2.0f)});
  OperatorRunner runner(framework("reference").part<OperatorRegistry>(),
                        parse_case("QLinearMatMul 0 0 0 0 0 0 0 0").node,
                        {a, scale, zero, b, scale, zero, Tensor::scalar(2.0f), zero});
  runner.forward();
  CHECK(float(runner.output(0).tensor().item<F8>()) == 1.25f);  // (0.5 + 2) / 2
}

TEST_CASE("QLinearMatMul refuses a scale of y for each row") {
  CHECK_THROWS_AS(run_case("QLinearMatMul uint8:2x2 scalar uint8:scalar uint8:2x2 scalar "
                           "uint8:scalar {1,1} uint8:{0,0}"),
                  ShapeError);
}

TEST_CASE("ConvInteger pads with the number zero") {
  // x is 1, 2, 3 above the zero point; a window of two, with a zero at both ends.
  const std::string line = "ConvInteger uint8:1x1x3{11,12,13} uint8:1x1x2{6,5} ";
  CHECK(result_of<std::int32_t>(line + "uint8:scalar{10} uint8:scalar{5} pads=1x1") ==
        Int32s{0, 1, 2, 3});
  CHECK(result_of<std::int32_t>(line + "uint8:scalar{10} pads=1x1") == Int32s{5, 16, 27, 18});
}

TEST_CASE("ConvInteger's filters may have zero points of their own") {
  CHECK(result_of<std::int32_t>("ConvInteger uint8:1x1x2{1,2} int8:2x1x1{3,4} - int8:{1,3}") ==
        Int32s{2, 4, 1, 2});
  CHECK(result_of<std::int32_t>("ConvInteger uint8:1x2x1{1,2} uint8:2x1x1{3,4} group=2") ==
        Int32s{3, 8});
  CHECK(shape_of("ConvInteger uint8:0x1x4 uint8:2x1x3") == "0x2x2");
}

TEST_CASE("QLinearConv adds the bias before it scales") {
  // (1, 2) * (3) + 4 = (7, 10), times 1 * w_scale / 2, above the zero point 1.
  const std::string x = "QLinearConv uint8:1x1x2{1,2} scalar{1} uint8:scalar{0} ";
  CHECK(result_of<std::uint8_t>(x + "uint8:1x1x1{3} scalar{2} uint8:scalar{0} scalar{2} "
                                    "uint8:scalar{1} int32:{4}") == Bytes{8, 11});
  CHECK(result_of<std::uint8_t>(x + "uint8:2x1x1{3,4} {2,4} uint8:{0,1} scalar{2} "
                                    "uint8:scalar{1}") == Bytes{4, 7, 7, 13});
}

TEST_CASE("integer convolutions refuse what does not fit") {
  CHECK_THROWS_AS(run_case("ConvInteger uint8:1x1x4 uint8:2x1x3 uint8:{1,2}"), ShapeError);
  CHECK_THROWS_AS(run_case("ConvInteger uint8:1x1x4 uint8:2x1x3 - uint8:{1,2,3}"), ShapeError);
  CHECK_THROWS_AS(run_case("ConvInteger uint8:1x2x4 uint8:2x1x3"), ShapeError);
  CHECK_THROWS_AS(run_case("ConvInteger uint8:1x1x4 uint8:2x1x3 group=0"), ValueError);
  CHECK_THROWS_AS(run_case("QLinearConv uint8:1x1x2 scalar uint8:scalar uint8:1x1x1 scalar "
                           "uint8:scalar scalar uint8:scalar int32:{4,5}"),
                  ShapeError);
}
