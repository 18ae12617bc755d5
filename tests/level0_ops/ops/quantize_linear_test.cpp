// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "d5/core/errors/error.hpp"
#include "tests/level0_ops/run_case.hpp"

using namespace d5;
using Floats = std::vector<float>;
using Bytes = std::vector<std::uint8_t>;
using SignedBytes = std::vector<std::int8_t>;

namespace {

template <class T>
Floats floats_of(const std::string& line) {
  const auto values = result_of<T>(line);
  return {values.begin(), values.end()};
}

/// The gradient of the scale of a DequantizeLinear whose y has the gradient `dy`.
Floats scale_gradient(const std::string& line, const Tensor& dy) {
  OperatorRunner runner = run_case(line, Mode::training);
  runner.backward({dy});
  const auto gradient = runner.grad_input(1).span<float>();
  return {gradient.begin(), gradient.end()};
}

}  // namespace

TEST_CASE("QuantizeLinear rounds to even, then adds the zero point, then saturates") {
  const std::string line = "QuantizeLinear {-9,-0.5,0.5,1.5,2.5,1000} scalar{1} ";
  CHECK(result_of<std::uint8_t>(line) == Bytes{0, 0, 0, 2, 2, 255});
  CHECK(result_of<std::uint8_t>(line + "uint8:scalar{3}") == Bytes{0, 3, 3, 5, 5, 255});
  CHECK(result_of<std::int8_t>(line + "int8:scalar{-3}") == SignedBytes{-12, -3, -3, -1, -1, 127});
}

TEST_CASE("QuantizeLinear has a scale for all, for each place of an axis, or for each block") {
  const std::string x = "QuantizeLinear 2x3{2,4,8,16,32,64} ";
  CHECK(result_of<std::uint8_t>(x + "{2}") == Bytes{1, 2, 4, 8, 16, 32});
  CHECK(result_of<std::uint8_t>(x + "{1,2,4} uint8:{0,1,2}") == Bytes{2, 3, 4, 16, 17, 18});
  CHECK(result_of<std::uint8_t>(x + "{1,2} axis=-2") == Bytes{2, 4, 8, 8, 16, 32});
  // Blocks of two along the last axis: the last block of each row is shorter.
  CHECK(result_of<std::uint8_t>(x + "2x2{1,2,4,8} axis=1 block_size=2") == Bytes{2, 4, 4, 4, 8, 8});
  CHECK(result_of<std::uint8_t>(x + "1x3{2,4,8} axis=0 block_size=2") == Bytes{1, 1, 1, 8, 8, 8});
  CHECK(result_of<std::uint8_t>(x + "1x3{2,4,8} axis=0 block_size=9223372036854775807") ==
        Bytes{1, 1, 1, 8, 8, 8});
}

TEST_CASE("QuantizeLinear cuts to the range of narrow integers") {
  const std::string line = "QuantizeLinear {-100,-1,1,100} scalar{1} output_dtype=";
  CHECK(floats_of<UInt4>(line + "21") == Floats{0, 0, 1, 15});
  CHECK(floats_of<Int4>(line + "22") == Floats{-8, -1, 1, 7});
  CHECK(floats_of<UInt2>(line + "25") == Floats{0, 0, 1, 3});
  CHECK(floats_of<Int2>(line + "26") == Floats{-2, -1, 1, 1});
}

TEST_CASE("QuantizeLinear saturates float8, or not") {
  const std::string line = "QuantizeLinear {1,3,2000} scalar{2} output_dtype=17";
  CHECK(floats_of<Float8E4M3FN>(line) == Floats{0.5f, 1.5f, 448});
  CHECK(std::isnan(floats_of<Float8E4M3FN>(line + " saturate=0").at(2)));
}

TEST_CASE("QuantizeLinear divides in the precision that is asked for") {
  const std::string line = "QuantizeLinear {2049} scalar{1} uint16:scalar{0}";
  CHECK(result_of<std::uint16_t>(line) == std::vector<std::uint16_t>{2049});
  // float16 has 11 bits.
  CHECK(result_of<std::uint16_t>(line + " precision=10") == std::vector<std::uint16_t>{2048});
  CHECK(result_of<std::uint8_t>("QuantizeLinear@10 int32:{7,-7} scalar{2} uint8:scalar{5}") ==
        Bytes{9, 1});
}

TEST_CASE("QuantizeLinear makes NaN the least number and infinity the largest") {
  const std::string line = "QuantizeLinear {nan,inf,-inf} scalar{1} ";
  CHECK(result_of<std::uint8_t>(line) == Bytes{0, 255, 0});
  CHECK(result_of<std::int8_t>(line + "int8:scalar{1}") == SignedBytes{-128, 127, -128});
  CHECK(result_of<std::uint8_t>("QuantizeLinear {0,1} scalar{0}") == Bytes{0, 255});
}

TEST_CASE("QuantizeLinear takes empty tensors") {
  CHECK(shape_of("QuantizeLinear 0x3 {1,1,1}") == "0x3");
  CHECK(shape_of("QuantizeLinear 2x0 2x0 block_size=4") == "2x0");
}

TEST_CASE("QuantizeLinear refuses scales that do not fit x") {
  CHECK_THROWS_WITH(
      run_case("QuantizeLinear 2x3 {1,1}"),
      "QuantizeLinear 'output0': the scale is 2, expected 3 for x of 2x3 along axis 1");
  CHECK_THROWS_AS(run_case("QuantizeLinear 3 {1,1,1}"), ValueError);  // axis 1 of a list
  CHECK_THROWS_AS(run_case("QuantizeLinear 2x3 2x3"), ShapeError);
  CHECK_THROWS_AS(run_case("QuantizeLinear 2x3 2x3 block_size=2"), ShapeError);
  CHECK_THROWS_AS(run_case("QuantizeLinear 2x3 2x3 block_size=-1"), ValueError);
  CHECK_THROWS_AS(run_case("QuantizeLinear 2x3 {1,1,1} uint8:scalar"), ShapeError);
  CHECK_THROWS_AS(run_case("QuantizeLinear 3 scalar output_dtype=1"), ValueError);
  CHECK_THROWS_AS(run_case("QuantizeLinear 3 scalar uint8:scalar output_dtype=3"), TypeError);
  CHECK_THROWS_AS(run_case("QuantizeLinear 3 scalar precision=11"), ValueError);
}

TEST_CASE("DequantizeLinear multiplies what lies above the zero point") {
  CHECK(result_of("DequantizeLinear uint8:{0,3,255} scalar{0.5} uint8:scalar{3}") ==
        Floats{-1.5f, 0, 126});
  CHECK(result_of("DequantizeLinear int8:2x2{1,2,3,4} {1,10} int8:{0,1} axis=0") ==
        Floats{1, 2, 20, 30});
  CHECK(result_of("DequantizeLinear uint8:1x3{1,2,3} 1x2{1,10} block_size=2") == Floats{1, 2, 30});
  // The difference of two int32 needs 33 bits.
  CHECK(result_of("DequantizeLinear@10 int32:{-2147483648} scalar{1} int32:scalar{2147483647}") ==
        Floats{-4294967295.0f});
}

TEST_CASE("DequantizeLinear's y has the type of the scale, or another") {
  const std::string line = "DequantizeLinear int8:{3} float16:scalar{0.5}";
  CHECK(floats_of<Float16>(line) == Floats{1.5f});
  CHECK(result_of(line + " output_dtype=1") == Floats{1.5f});
  CHECK_THROWS_AS(run_case("DequantizeLinear int8:{3} scalar output_dtype=2"), ValueError);
}

TEST_CASE("a scale may be a power of two, which y cannot be") {
  const Value scale = Tensor::scalar(Float8E8M0(4.0f));
  const auto run = [&](const std::string& line, const Value& x) {
    OperatorRunner runner(framework("reference").part<OperatorRegistry>(), parse_case(line).node,
                          {x, scale});
    runner.forward();
    return runner.output(0).tensor();
  };
  const Value x = Tensor::scalar(std::int8_t(3));
  CHECK(run("DequantizeLinear 0 0 output_dtype=1", x).item<float>() == 12);
  CHECK_THROWS_AS(run("DequantizeLinear 0 0", x), TypeError);
  CHECK(run("QuantizeLinear 0 0", Tensor::scalar(10.0f)).item<std::uint8_t>() == 2);
}

TEST_CASE("the gradient of a scale sums over all that it scales") {
  const Tensor dy = Tensor::of<float>({2, 2}, {5, 6, 7, 8});
  const std::string x = "DequantizeLinear uint8:2x2{1,2,3,4} ";
  CHECK(scale_gradient(x + "scalar{9} uint8:scalar{1}", dy) ==
        Floats{0 * 5 + 1 * 6 + 2 * 7 + 3 * 8});
  CHECK(scale_gradient(x + "{9,9} uint8:{1,2}", dy) == Floats{0 * 5 + 2 * 7, 0 * 6 + 2 * 8});
  CHECK(scale_gradient(x + "2x1{9,9} axis=1 block_size=2", dy) ==
        Floats{1 * 5 + 2 * 6, 3 * 7 + 4 * 8});
}

TEST_CASE("DynamicQuantizeLinear stretches the range to hold zero") {
  CHECK(result_of<std::uint8_t>("DynamicQuantizeLinear {51,102,255}") == Bytes{51, 102, 255});
  const std::string line = "DynamicQuantizeLinear {-51,0,204}";
  CHECK(result_of<std::uint8_t>(line) == Bytes{0, 51, 255});
  CHECK(result_of(line, 1) == Floats{1});
  CHECK(result_of<std::uint8_t>(line, 2) == Bytes{51});
  CHECK(result_of<std::uint8_t>("DynamicQuantizeLinear {0,0}") == Bytes{0, 0});
  CHECK(shape_of("DynamicQuantizeLinear 0x2") == "0x2");
}
